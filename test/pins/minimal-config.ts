/** The least that is a config: what is not in it has its default. */
export const MINIMAL_CONFIG = {
  runtimes: { a: { kind: 'proxied', url: 'http://127.0.0.1:3001/mcp' } },
  routes: [{ path: '/mcp', public: true, runtime: 'a' }],
};
