// The gates that `use:` names without a prefix.
import type { GateModule } from 'portcullis/gate';
import { gate as apiKey } from './api-key/gate.js';
import { gate as ipAllow } from './ip-allow/gate.js';
import { gate as mtls } from './mtls/gate.js';
import { gate as principalAllow } from './principal-allow/gate.js';

/** Built-in gate modules by name. */
export const builtins: Readonly<Record<string, GateModule>> = {
  'api-key': apiKey,
  'ip-allow': ipAllow,
  'principal-allow': principalAllow,
  // oauth-bearer
  mtls,
};
