/** What makes the page live. Without it the page says the same, once. It changes nothing on the server. */
export const SCRIPT = `'use strict';
{
  const live = document.getElementById('live');
  let source;
  let retry;

  // Makes the old tree like the new one and touches only what differs: selection, focus and open details stay.
  const morph = (old, next) => {
    if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) return old.replaceWith(next.cloneNode(true));
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== next.data) old.data = next.data;
      return;
    }
    for (const { name } of [...old.attributes]) if (name !== 'open' && !next.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    morphChildren(old, next);
  };
  const morphChildren = (old, next) => {
    const [before, after] = [[...old.childNodes], [...next.childNodes]];
    after.forEach((node, at) => (before[at] === undefined ? old.append(node.cloneNode(true)) : morph(before[at], node)));
    before.slice(after.length).forEach((node) => node.remove());
  };

  const say = (words, tone) => {
    const mark = document.createElement('span');
    mark.className = 'mark ' + tone;
    mark.textContent = (tone === 'good' ? '\\u25cf ' : '\\u25b2 ') + words;
    live.replaceChildren(mark);
    document.body.classList.toggle('stale', tone !== 'good');
  };
  const now = () => new Date().toISOString().slice(11, 19);

  const stop = () => {
    clearTimeout(retry);
    source?.close();
    source = undefined;
  };
  let seen = now();
  const lost = (why) => {
    stop();
    say(why + ' This page shows the state at ' + seen + ' UTC.', 'warn');
    retry = setTimeout(connect, 5000);
  };
  const connect = () => {
    stop();
    source = new EventSource('/status/events');
    source.addEventListener('open', () => say('Live', 'good'));
    source.addEventListener('part', (event) => {
      const { id, html } = JSON.parse(event.data);
      const part = document.querySelector('[data-part="' + CSS.escape(id) + '"]');
      if (part === null) return;
      seen = now();
      const next = document.createElement('template');
      next.innerHTML = html;
      morphChildren(part, next.content);
    });
    source.addEventListener('end', () => lost('The gateway has ended.'));
    source.addEventListener('error', () => lost('Not live.'));
  };
  if (document.querySelector('[data-part]') !== null) {
    connect();
    // A hidden page is not updated.
    document.addEventListener('visibilitychange', () => (document.hidden ? stop() : connect()));
    window.addEventListener('pagehide', stop);
  }

  const form = document.getElementById('explain-form');
  form?.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    const place = document.getElementById('explanation');
    button.disabled = true;
    try {
      const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)), headers: { accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.getElementById('explanation');
      place.replaceChildren(...(found === null ? ['This could not be asked: ' + answer.status + '.'] : found.childNodes));
    } catch {
      place.textContent = 'The gateway does not answer.';
    }
    button.disabled = false;
    place.querySelector('h3')?.focus();
    place.scrollIntoView({ block: 'nearest' });
  });
}
`;
