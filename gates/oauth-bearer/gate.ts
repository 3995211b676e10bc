import { defineGate } from 'portcullis/gate';
import { createBearerGate } from './bearer-gate.js';
import { codes } from './challenge.js';
import { options } from './options.js';
import { toSettings } from './settings.js';

/**
 * An OAuth 2.1 resource server: identifies the caller by a bearer token (RFC 6750, RFC 9068), serves the RFC 9728 document
 * and challenges as MCP 2026-07-28 "Authorization" asks. Facts: `groups`, `token` (verified claims without `cnf` and `jti`).
 */
export const gate = defineGate({
  name: 'oauth-bearer',
  contract: 1,
  options,
  provides: ['groups', 'token'],
  requires: ({ certificate_from }) => (certificate_from === 'gate' ? ['certificate'] : []),
  identifies: 'always',
  codes,
  check: (given) => void toSettings(given, ANY_ROUTE),
  open: createBearerGate,
});

/** Stands in for the route's own URL, which the listener's rules have judged. */
const ANY_ROUTE = { path: '/', url: 'https://localhost/', runtime: '' };
