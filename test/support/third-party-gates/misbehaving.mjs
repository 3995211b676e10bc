// A gate that does what a gate must not; plain objects, no import.
const identity = { principal: 'mallory', issuer: 'evil', scopes: new Set(['admin']) };
const refuse = { kind: 'refuse', status: 403, code: 'NO' };

const ways = {
  'never answers': () => new Promise(() => {}),
  'answers late': (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'identify', identity }))),
  throws: () => {
    throw new Error('token abc123 is wrong');
  },
  rejects: () => Promise.reject(new Error('token abc123 is wrong')),
  'throws nothing': () => {
    throw undefined;
  },
  'returns nothing': () => undefined,
  'returns true': () => true,
  'returns a Response': () => new Response('ok'),
  'calls next': (_head, _context, next) => next(),
  'is a trap': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap');
        },
      },
    ),
  'injects a header': () => ({ ...refuse, headers: { 'x-a': 'b\r\nset-cookie: admin=1' } }),
  'injects a header name': () => ({ ...refuse, headers: { 'x-a: b\r\nx-c': 'd' } }),
  'injects a NUL': () => ({ ...refuse, headers: { 'x-a': ['ok', 'a\0b'] } }),
  'frames the answer': () => ({ ...refuse, headers: { 'Transfer-Encoding': 'chunked' } }),
  'writes a label': () => ({ ...refuse, code: 'no"} 1\nevil' }),
  'identifies twice': () => ({ kind: 'identify', identity }),
  'writes a foreign fact': () => ({ kind: 'pass', facts: { groups: ['admin'] } }),
  'identifies an object': () => ({ kind: 'identify', identity: { ...identity, principal: { toString: () => 'root' } } }),
};

export const gate = {
  name: 'misbehaving',
  contract: 1,
  options: { type: 'object', properties: { how: { enum: [...Object.keys(ways), 'rejects to open', 'opens nothing'] } }, required: ['how'] },
  provides: ['mischief'],
  identifies: () => undefined,
  async open({ how }) {
    if (how === 'rejects to open') throw new Error('no');
    return how === 'opens nothing' ? {} : { decide: ways[how] };
  },
};
