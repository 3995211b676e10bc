// A transport that does what a transport must not; plain objects, no import. `how` says what.
const answer = (message) => {
  const { id, method } = JSON.parse(message);
  if (method === 'server/discover') {
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } };
  }
  return {
    jsonrpc: '2.0',
    id,
    result: { resultType: 'complete', content: [{ type: 'text', text: 'ok' }], tools: [{ name: 'any', inputSchema: { type: 'object' } }] },
  };
};
const isCall = (message) => JSON.parse(message).method === 'tools/call';

/** A good transport, with the way of misbehaving on top. */
function make(over) {
  let options;
  const transport = {
    async start(given) {
      options = given;
    },
    async sendMessage(message) {
      if (JSON.parse(message).id !== undefined) options.receive(answer(message));
      return { ok: true };
    },
    async shutdown() {
      return { ok: true };
    },
    supportedProtocolVersions: () => 'all',
  };
  return Object.assign(
    transport,
    over(transport, () => options),
  );
}

/** `tools/call` is sent like this, everything else as it should be. */
const onCall = (how) => (good, options) => {
  const { sendMessage } = good;
  return { sendMessage: (message) => (isCall(message) ? how(message, options()) : sendMessage(message)) };
};

const ways = {
  nothing: () => ({}),
  'start throws': () => ({
    start() {
      throw new Error('no cable');
    },
  }),
  'start rejects': () => ({ start: () => Promise.reject(new Error('no cable')) }),
  'start never ends': () => ({ start: () => new Promise(() => {}) }),
  'init fails': () => ({ init: () => ({ ok: false, fault: { code: 'NO_KEY', message: 'there is no key' } }) }),
  'init throws': () => ({
    init() {
      throw new Error('no init');
    },
  }),
  'init returns nothing': () => ({ init: () => undefined }),
  'versions throw': () => ({
    supportedProtocolVersions() {
      throw new Error('which?');
    },
  }),
  'versions are a number': () => ({ supportedProtocolVersions: () => 7 }),
  'versions are unknown': () => ({ supportedProtocolVersions: () => ['1999-01-01'] }),
  'send throws': onCall(() => {
    throw new Error('cut');
  }),
  'send rejects': onCall(() => Promise.reject(new Error('cut'))),
  'send returns nothing': onCall(() => undefined),
  'send returns true': onCall(() => true),
  'send fails without words': onCall(() => ({ ok: false })),
  'send fails': onCall(() => ({ ok: false, fault: { code: 'JAMMED', message: 'paper in tray 2' } })),
  'encode throws': () => ({
    encode(message) {
      if (message.method === 'tools/call') throw new Error('too round');
      return { ok: true, value: [Buffer.from(JSON.stringify(message))] };
    },
  }),
  'encode returns text': () => ({
    encode: (message) => ({ ok: true, value: [message.method === 'tools/call' ? 'text' : Buffer.from(JSON.stringify(message))] }),
  }),
  'receive gets junk': onCall((message, { receive }) => {
    for (const junk of [
      undefined,
      7,
      'no json',
      '[]',
      '{}',
      Buffer.from([0xff]),
      [],
      { jsonrpc: '1.0' },
      { jsonrpc: '2.0', id: 'other', result: {} },
    ])
      receive(junk);
    receive(JSON.stringify(answer(message)));
    return Promise.resolve({ ok: true });
  }),
  'parse throws': (good) => {
    const { sendMessage } = good;
    let calls = 0;
    return {
      parse(raw, state) {
        if (calls++ === 2) throw new Error('eaten');
        return { ok: true, value: [[raw], state] };
      },
      sendMessage,
    };
  },
  'parse returns no list': () => {
    let calls = 0;
    return { parse: (raw, state) => ({ ok: true, value: [calls++ === 2 ? 'text' : [raw], state] }) };
  },
  'closes in a call': onCall((_message, { closed }) => {
    closed({ code: 'FIRE', message: 'it burns' });
    return Promise.resolve({ ok: true });
  }),
  'closes without words': onCall((_message, { closed }) => {
    closed();
    return Promise.resolve({ ok: true });
  }),
  'answers twice': onCall((message, { receive }) => {
    receive(answer(message));
    receive(answer(message));
    return Promise.resolve({ ok: true });
  }),
  'shutdown throws': () => ({
    shutdown() {
      throw new Error('stuck');
    },
  }),
  'shutdown never ends': () => ({ shutdown: () => new Promise(() => {}) }),
};

const opens = {
  'open throws': () => {
    throw new Error('no door');
  },
  'opens nothing': () => undefined,
  'opens half': () => ({ start: () => {}, sendMessage: () => {}, supportedProtocolVersions: () => 'all' }),
  'opens a broken whole': () => make(() => ({ parse: 'yes' })),
};

export const transport = {
  name: 'misbehaving',
  contract: 1,
  options: { type: 'object', properties: { how: { enum: [...Object.keys(ways), ...Object.keys(opens)] } }, required: ['how'] },
  open: ({ how }) => (Object.hasOwn(opens, how) ? opens[how]() : make(ways[how])),
};
