import { count, type Filled, flag, list, section, text } from './fields.js';

export const ReloadSchema = section(
  {
    watch: flag(
      true,
      'Watch the config file and put a changed one in force, as SIGHUP and POST /reload on the ops listener do. A file that cannot be used changes nothing. listener.host, port, tls, keep_alive and limits, ops, telemetry and reload need a restart, and so does a changed file of a gate, hosted server or transport; a reload names them.',
    ),
  },
  { default: {}, description: 'How a changed config is put in force: gates, routes and runtimes as one whole, without dropping a stream.' },
);

export const OpsSchema = section(
  {
    enabled: flag(true, 'false: no ops listener; no probes, no metrics.'),
    host: text('Address or name to listen on. The ops listener asks nobody who they are: keep it on loopback or a private network.', {
      default: '127.0.0.1',
      format: 'host',
      maxLength: 253,
    }),
    port: count(9090, 'TCP port. 0 picks a free one.', { zero: true, maximum: 65_535 }),
    page: flag(true, 'Show browsers the status page at /status. false: /status is JSON only.'),
    explain: flag(
      true,
      'Let the status page ask the gates about a request that somebody describes, a token included; it is used and never shown or kept. One question at a time.',
    ),
    allowed_hosts: list(
      text('host or host:port.', { format: 'authority', maxLength: 512 }),
      'Names in Host that /status answers beside addresses, localhost, names without a dot and names under .svc, .cluster.local and .internal. A name that anybody can own might be pointed here by a page of theirs, which could then read the answer.',
    ),
  },
  { default: {}, description: 'The second listener: probes, metrics, drain. Never the public one.' },
);

/** `ops`, every default filled. */
export type OpsConfig = Filled<typeof OpsSchema>;
