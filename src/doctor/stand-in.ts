import { publicUrl } from '../assembly/urls.js';
import type { LoadedConfig } from '../config/load.js';
import type { Log } from '../contract/log.js';
import { assembleGateway, type Gateway } from '../gateway.js';
import { DIRECT, type TunnelEgress } from '../upstream/egress.js';

/**
 * A gateway of the config in this process, on a free loopback port: same gates, routes and runtimes; no TLS, no ops listener, no audit,
 * and every `Host`. What clients dial for it stays what it is, so that audiences are judged as they will be. `terminated`: this
 * machine is believed as the TLS terminator is.
 */
export function standIn(loaded: LoadedConfig, terminated: boolean, log: Log, egress: TunnelEgress = DIRECT): Gateway {
  const { config } = loaded;
  const { tls: _, ...listener } = config.listener;
  const { audit: __, ...telemetry } = config.telemetry;
  const own = {
    ...config,
    listener: {
      ...listener,
      host: '127.0.0.1',
      port: 0,
      public_url: publicUrl(config),
      allowed_hosts: [],
      trusted_proxies: terminated ? [...listener.trusted_proxies, '127.0.0.1'] : listener.trusted_proxies,
    },
    ops: { ...config.ops, enabled: false },
    telemetry,
    reload: { ...config.reload, watch: false },
  };
  return assembleGateway({ ...loaded, config: own, warnings: [] }, { log, egress });
}
