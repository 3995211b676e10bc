/** How the page looks: system fonts, light and dark, from 320 px up. Colours keep a contrast of 4.5 to 1 and more. */
export const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f7f7f5; --card: #ffffff; --ink: #1d2125; --calm: #585f67; --line: #e2e2de; --field: #8b9198;
  --good: #1b7045; --warn: #8a5300; --bad: #b3261e; --link: #1f5fa8; --code: #f1f1ee;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Segoe UI Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #131517; --card: #1b1e21; --ink: #e4e6e8; --calm: #9ca4ad; --line: #2d3237; --field: #6f7780;
    --good: #62c793; --warn: #e6b450; --bad: #ff8b82; --link: #8ab8f0; --code: #24282c;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 0 1.5rem 3rem; max-width: 76rem;
  background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
a { color: var(--link); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
h3:focus { outline: none; }
code, pre, textarea, input { font-family: var(--mono); font-size: 0.93em; }
small { font-size: 0.87em; color: var(--calm); }
p { margin: 0 0 0.5rem; }
.calm { color: var(--calm); }
.line { display: block; }
.line.inline { display: inline; }
.bad { color: var(--bad); }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.25rem 0.5rem; }

header { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 1.5rem; padding: 1.25rem 0 0.75rem; }
.name { margin: 0; color: var(--calm); }
.name a { color: var(--ink); font-weight: 650; font-size: 1.1rem; text-decoration: none; margin-right: 0.5rem; }
#live { margin: 0; }
nav { flex-basis: 100%; margin-top: 0.5rem; }
nav a { display: inline-block; margin-right: 0.9rem; padding: 0.15rem 0; }
.stale #live {
  position: fixed; inset: auto 0 0 0; padding: 0.6rem 1.5rem; text-align: center;
  background: var(--card); border-top: 2px solid var(--warn);
}
.stale #live .mark { white-space: normal; }
.stale footer { padding-bottom: 3rem; }

main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
section { grid-column: 1 / -1; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; min-width: 0; }
section.narrow { grid-column: auto; }
h2 { margin: 0 0 0.6rem; font-size: 0.95rem; font-weight: 600; color: var(--calm); }
h3 { margin: 0 0 0.4rem; font-size: 1.05rem; font-weight: 600; }
section p:last-child, section ul:last-child, section dl:last-child { margin-bottom: 0; }

.mark { white-space: nowrap; font-weight: 600; }
.mark.good { color: var(--good); } .mark.warn { color: var(--warn); } .mark.bad { color: var(--bad); } .mark.calm { color: var(--calm); }
.verdict { font-size: 1.7rem; line-height: 1.25; letter-spacing: -0.01em; margin-bottom: 0.35rem; }
.verdict .mark { white-space: normal; }
.problems { list-style: none; margin: 0 0 0.5rem; padding: 0; }
.problems a { color: var(--ink); }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem 1.5rem; margin: 1rem 0 0; }
dt { color: var(--calm); font-size: 0.87em; }
dd { margin: 0; }
.numbers dd { font-size: 1.35rem; line-height: 1.3; }
.numbers small { font-size: 0.8rem; }
.drain { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; }
progress { flex: 1 1 10rem; accent-color: var(--warn); height: 0.6rem; }

table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 1rem 0.5rem 0; font-weight: 400; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--calm); font-size: 0.87em; padding-top: 0; white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
.number { text-align: right; }
td .line, th .line { line-height: 1.4; }
.status { font-weight: 600; }
.chain { display: flex; flex-wrap: wrap; list-style: none; margin: 0; padding: 0; gap: 0.15rem 0; }
.chain li:not(:last-child)::after { content: "→"; color: var(--calm); padding: 0 0.4rem; }
.chain .public { color: var(--warn); }
.errors { margin: 0 0 0.5rem; padding-left: 1.1rem; }
pre { margin: 0.5rem 0 0; padding: 0.75rem 1rem; background: var(--code); border-radius: 6px; max-height: 32rem; overflow: auto; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--link); padding: 0.2rem 0; }

.fields { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0 1.25rem; }
.fields.two { grid-template-columns: repeat(2, minmax(0, 1fr)); }
form details { margin-bottom: 0.9rem; }
.fields p { margin-bottom: 0.75rem; }
.fields .wide { grid-column: 1 / -1; }
label { display: block; color: var(--calm); font-size: 0.87em; margin-bottom: 0.2rem; }
input, textarea { width: 100%; padding: 0.45rem 0.6rem; color: var(--ink); background: var(--ground); border: 1px solid var(--field); border-radius: 6px; }
textarea { resize: vertical; display: block; }
::placeholder { color: var(--calm); opacity: 1; }
.secret { -webkit-text-security: disc; }
button { font: inherit; font-weight: 600; padding: 0.45rem 1.1rem; color: var(--card); background: var(--link); border: 0; border-radius: 6px; cursor: pointer; }
button:disabled { opacity: 0.6; }
#explanation:not(:empty) { border-left: 3px solid var(--line); padding-left: 1rem; margin-bottom: 1.25rem; }
.steps { margin: 0.5rem 0; padding-left: 0; list-style: none; }
.caller { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 0.5rem 1.25rem; margin: 0.5rem 0; }
footer { margin-top: 1.25rem; color: var(--calm); font-size: 0.87em; }

@media (min-width: 701px) {
  td .line.inline { display: block; }
  .refusals th:nth-child(1) { width: 20%; } .refusals th:nth-child(2) { width: 14%; } .refusals th:nth-child(4) { width: 19%; }
  .refusals th:nth-child(5) { width: 7%; } .refusals th:nth-child(6) { width: 10%; }
  .routes th:nth-child(1) { width: 27%; } .routes th:nth-child(2) { width: 23%; } .routes th:nth-child(4) { width: 9%; }
  .gates th:nth-child(1), .traffic th:nth-child(1) { width: 45%; }
}
@media (max-width: 700px) {
  body { padding: 0 0.9rem 2rem; }
  main { display: block; }
  section { margin-bottom: 0.9rem; padding: 0.9rem 1rem; }
  .fields, .fields.two { grid-template-columns: minmax(0, 1fr); }
  input, textarea, button { font-size: 16px; }
  .numbers { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  table, tbody, tr, th, td, caption { display: block; width: 100%; }
  thead { display: none; }
  tbody tr { padding: 0.6rem 0; }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  th, td, .number { padding: 0.1rem 0; text-align: left; }
  td { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); gap: 0 0.5rem; }
  td.none { display: none; }
  td::before { content: attr(data-label); color: var(--calm); font-size: 0.87em; }
  tbody th { font-weight: 600; padding-bottom: 0.25rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { nav, #explain, .skip { display: none; } }
`;
