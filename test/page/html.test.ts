import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { html } from '../../src/page/html.js';

describe('html', () => {
  it('escapes what means something in an element and in a quoted attribute', () => {
    const hostile = `<script>alert("1")</script>&'`;
    assert.equal(
      html`<p title="${hostile}">${hostile}</p>`.toString(),
      '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;</p>',
    );
  });

  it('shows control characters and what turns the direction of text, instead of sending them', () => {
    assert.equal(html`${'a\u0000\u001b[31m\r\u202eb\u2066'}`.toString(), 'a\\u0000\\u001b[31m\\u000d\\u202eb\\u2066');
    assert.equal(html`${'a\n\tb'}`.toString(), 'a\n\tb');
  });

  it('keeps what is HTML, writes lists one after the other and nothing for undefined and false', () => {
    assert.equal(html`<ul>${[1, html`<li>${'<'}</li>`, ['a', undefined, false]]}</ul>`.toString(), '<ul>1<li>&lt;</li>a</ul>');
  });

  it('no text can end an attribute or begin a tag', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [, value = ''] = /^<p title="(.*)"><\/p>$/s.exec(html`<p title="${text}"></p>`.toString()) ?? [];
        return !/[<>"']/.test(value);
      }),
    );
  });
});
