import { count, type Filled, flag, list, section, text } from './fields.js';

export const ReloadSchema = section(
  {
    watch: flag(
      true,
      'Watch the config file and apply changes, as SIGHUP and POST /reload on the ops listener do. An invalid file changes nothing. listener.host, port, tls, keep_alive and limits, ops, telemetry and reload need a restart, and so does a changed file of a gate, hosted server or transport; a reload names them.',
    ),
  },
  { default: {}, description: 'How a changed config is applied: gates, routes and runtimes atomically, without dropping a stream.' },
);

export const OpsSchema = section(
  {
    enabled: flag(true, 'false: no ops listener; no probes, no metrics.'),
    host: text('Address or name to listen on. The ops listener does not authenticate callers: keep it on loopback or a private network.', {
      default: '127.0.0.1',
      format: 'host',
      maxLength: 253,
    }),
    port: count(9090, 'TCP port. 0 picks a free one.', { zero: true, maximum: 65_535 }),
    page: flag(true, 'Show browsers the status page at /status. false: /status is JSON only.'),
    explain: flag(
      true,
      'Let the status page run the gates on a request that the user describes, including a token, which is used but never shown or stored. One request at a time.',
    ),
    allowed_hosts: list(
      text('host or host:port.', { format: 'authority', maxLength: 512 }),
      'Host names that /status accepts besides addresses, localhost, names without a dot and names under .svc, .cluster.local and .internal. Anyone could point a public name here and let a web page read the answer (DNS rebinding).',
    ),
  },
  { default: {}, description: 'The second listener: probes, metrics, drain. Never the public one.' },
);

/** `ops`, every default filled. */
export type OpsConfig = Filled<typeof OpsSchema>;
