import type { GateHost } from 'portcullis/gate';
import { createEndpoint } from './endpoint.js';
import { IssuerKeys } from './issuer-keys.js';
import { createFileSource, createRemoteSource } from './key-source.js';
import type { Settings } from './settings.js';

/** The key caches of a gate’s issuers. Two gates that ask for the same keys in the same way share one cache. */
export type Keyring = ReadonlyMap<string, IssuerKeys>;

/** Opens the caches; the first loads run in the background, so that a start never waits for an authorization server. */
export function openKeyring(settings: Settings, host: GateHost): Keyring {
  return new Map(settings.issuers.map((issuer, index) => [issuer, openKeys(settings, host, issuer, index)]));
}

function openKeys({ options, issuers }: Settings, host: GateHost, issuer: string, index: number): IssuerKeys {
  const { jwks_uri, jwks_file, jwks_refresh_s, jwks_stale_s } = options;
  const key = JSON.stringify(['oauth-bearer keys', issuer, jwks_uri, jwks_file, jwks_refresh_s, jwks_stale_s]);
  return host.shared(key, () => {
    const label = issuers.length === 1 ? host.name : `${host.name}#${index}`;
    const keys = new IssuerKeys({
      issuer,
      source:
        jwks_file === undefined
          ? createRemoteSource(createEndpoint({ kind: 'close' }, host.egress), issuer, jwks_uri)
          : createFileSource(host.folder, jwks_file),
      refresh_s: jwks_refresh_s,
      stale_s: jwks_stale_s,
      clock: host.clock,
      log: host.log,
      label,
      fetches: host.metrics.counter('jwks_fetches_total', 'Loads of an issuer’s keys by outcome.', ['issuer', 'outcome']),
      gauges: [
        host.metrics.gauge('jwks_age_seconds', 'Seconds since the issuer’s keys were loaded.', ['issuer'], () =>
          keys.age_s === undefined ? [] : [{ value: keys.age_s, labels: { issuer: label } }],
        ),
        host.metrics.gauge('jwks_keys', 'Usable keys held for the issuer.', ['issuer'], () => [
          { value: keys.size, labels: { issuer: label } },
        ]),
      ],
    });
    return keys;
  });
}
