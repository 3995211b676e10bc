import { createHash } from 'node:crypto';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/** A gate that is half down, in a colour that is seen on light and dark tabs. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#3f7fbf" stroke-width="1.6" stroke-linecap="round">
<path d="M2 15V7a6 6 0 0 1 12 0v8M5 3v8.5M8 2v10.5M11 3v8.5M2.5 6h11M2.5 9.5h11"/>
</svg>
`;

/** A file that the page loads. It is text in the program, so that whatever holds the program holds it. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
}

/** The page's files by path. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  '/status.css': toAsset('text/css; charset=utf-8', STYLE),
  '/status.js': toAsset('text/javascript; charset=utf-8', SCRIPT),
  '/status.svg': toAsset('image/svg+xml', ICON),
};

function toAsset(type: string, text: string): Asset {
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
