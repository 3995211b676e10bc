import type { RuntimeConfig } from '../../src/config/schema/runtimes.js';

/** A runtime entry that has an upstream; throws for any other. */
export function upstream(runtime: RuntimeConfig | undefined): Extract<RuntimeConfig, { readonly url: string }> {
  if (runtime === undefined || !('url' in runtime)) throw new TypeError('no runtime with an upstream');
  return runtime;
}
