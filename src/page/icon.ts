/** A gate that is half down, in a colour that is seen on light and dark tabs. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#3f7fbf" stroke-width="1.6" stroke-linecap="round">
<path d="M2 15V7a6 6 0 0 1 12 0v8M5 3v8.5M8 2v10.5M11 3v8.5M2.5 6h11M2.5 9.5h11"/>
</svg>
`;
