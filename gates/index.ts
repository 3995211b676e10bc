// The gates that `use:` names without a prefix.
import type { GateModule } from 'portcullis/gate';
import { gate as apiKey } from './api-key/gate.js';
import { gate as forwardAuth } from './forward-auth/gate.js';
import { gate as ipAllow } from './ip-allow/gate.js';
import { gate as methodAllow } from './method-allow/gate.js';
import { gate as mtls } from './mtls/gate.js';
import { gate as oauthBearer } from './oauth-bearer/gate.js';
import { gate as principalAllow } from './principal-allow/gate.js';
import { gate as rate } from './rate/gate.js';

/** Built-in gate modules by name. */
export const builtins: Readonly<Record<string, GateModule>> = {
  'api-key': apiKey,
  'forward-auth': forwardAuth,
  'ip-allow': ipAllow,
  'method-allow': methodAllow,
  'oauth-bearer': oauthBearer,
  'principal-allow': principalAllow,
  rate,
  mtls,
};
