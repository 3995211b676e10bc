import type { Status } from '../status/status.js';
import { type Content, type Html, html } from './html.js';

/** What was asked, to be shown in the form again; never a token, a certificate or a header. */
export type FormValues = Readonly<Partial<Record<'route' | 'method' | 'tool' | 'address' | 'via' | 'http_method' | 'revision', string>>>;

/** The form that describes a request. It is posted, so that no token stands in a URL or a history. */
export function explainForm(status: Pick<Status, 'routes'>, asked: FormValues = {}): Html {
  const { route = status.routes[0]?.path } = asked;
  return html`<form id="explain-form" method="post" action="/status/explain" autocomplete="off">
<p class="calm">Asks the gates about a request, without sending it. What is written here is used once and neither shown nor kept.</p>
<div class="fields two">
${field('route', 'Route', html` list="paths" required value="${route}"`)}
<datalist id="paths">${status.routes.map(({ path }) => html`<option value="${path}"></option>`)}</datalist>
${field('token', 'Bearer token', html` class="secret"`)}
</div>
<div class="fields">
${field('method', 'MCP method', html` placeholder="tools/list" value="${asked.method}"`)}
${field('tool', 'Tool', html` placeholder="of a tools/call" value="${asked.tool}"`)}
${field('address', 'Client address', html` placeholder="127.0.0.1" value="${asked.address}"`)}
</div>
<details${OPEN.some((name) => asked[name] !== undefined) && html` open`}><summary>More of the request</summary>
<div class="fields">
${field('via', 'Address of the proxy in front', html` value="${asked.via}"`)}
${field('http_method', 'HTTP method', html` placeholder="POST" value="${asked.http_method}"`)}
${field('revision', 'Protocol revision', html` placeholder="2026-07-28" value="${asked.revision}"`)}
${area('header', 'Header fields, one name: value a line')}
${area('certificate', 'Client certificate, PEM')}
</div></details>
<p><button type="submit">Explain</button></p>
</form>`;
}

const OPEN = ['via', 'http_method', 'revision'] as const;

function field(name: string, label: string, more: Content): Html {
  return html`<p><label for="ask-${name}">${label}</label><input id="ask-${name}" name="${name}" type="text" spellcheck="false" autocapitalize="off" autocomplete="off"${more}></p>`;
}

function area(name: string, label: string): Html {
  return html`<p class="wide"><label for="ask-${name}">${label}</label><textarea id="ask-${name}" name="${name}" rows="3" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></p>`;
}
