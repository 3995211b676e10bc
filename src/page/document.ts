import type { Status } from '../status/status.js';
import { explainForm, type FormValues } from './explain-form.js';
import { type Content, type Html, html } from './html.js';
import { PARTS } from './parts.js';

/** The whole page. With `explains` the Explain form is a part of it. */
export function statusPage(status: Status, explains: boolean): Html {
  const section = ({ id, title, narrow, render }: (typeof PARTS)[number]): Html =>
    html`<section id="${id}" aria-labelledby="${id}-title"${narrow === true && html` class="narrow"`}>
<h2 id="${id}-title">${title}</h2>
<div data-part="${id}">${render(status)}</div>
</section>
`;
  const links = [...PARTS.slice(1).map(({ id, title }) => [id, title] as const), ...(explains ? [['explain', 'Explain'] as const] : [])];
  return shell(
    status,
    html`<nav aria-label="Sections">${links.map(([id, title]) => html`<a href="#${id}">${title}</a> `)}</nav>`,
    html`${PARTS.map(section)}${explains && explainSection(status, {}, undefined)}`,
  );
}

/** The page that answers the form without JavaScript. */
export function explainPage(status: Status, asked: FormValues, answer: Content): Html {
  const back = html`<nav aria-label="Sections"><a href="/status">Back to the status page</a></nav>`;
  return shell(status, back, explainSection(status, asked, answer));
}

function explainSection(status: Status, asked: FormValues, answer: Content): Html {
  return html`<section id="explain" aria-labelledby="explain-title">
<h2 id="explain-title">Explain</h2>
<div id="explanation">${answer}</div>
${explainForm(status, asked)}
</section>
`;
}

function shell(status: Status, nav: Html, main: Content): Html {
  const iso = new Date(status.at_ms).toISOString();
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${status.url} · Portcullis</title>
<link rel="icon" href="/status.svg" type="image/svg+xml">
<link rel="stylesheet" href="/status.css">
<script src="/status.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<p class="name"><a href="/status">Portcullis</a> <span>${status.url}</span></p>
<p id="live"><span class="calm">As of <time datetime="${iso}">${iso.slice(11, 19)}</time> UTC.</span> <a href="/status">Reload</a></p>
${nav}
</header>
<main id="main">
<h1 class="unseen">Status of Portcullis at ${status.url}</h1>
${main}</main>
<footer><p><a href="/status.json">status.json</a> · <a href="/metrics">metrics</a> · Portcullis ${status.version}</p></footer>
</body>
</html>
`;
}
