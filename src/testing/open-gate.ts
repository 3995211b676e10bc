import type { GateModule, RequestGate } from '../contract/gate.js';
import type { TSchema } from '../contract/options.js';
import { ConfigError } from '../errors/error.js';
import { checkOptions } from '../gate-chain/options.js';
import { makeHost, type TestHost } from './host.js';

/**
 * Opens a gate as the gateway does: the options are validated, defaulted and frozen first. Throws the ConfigError that the
 * operator would read, with keys such as `options.keys.0.name`. The caller closes the gate.
 */
export async function openGate<S extends TSchema>(
  module: GateModule<S>,
  options: unknown = {},
  host: TestHost = makeHost(),
): Promise<RequestGate> {
  const checked = checkOptions(module.options, options, 'options');
  if (checked.problems.length > 0) throw new ConfigError(checked.problems);
  return await module.open(checked.options as never, host);
}
