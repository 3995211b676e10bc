import { count, type Filled, flag, section, text } from './fields.js';

export const OpsSchema = section(
  {
    enabled: flag(true, 'false: no ops listener; no probes, no metrics.'),
    host: text('Address or name to listen on. The ops listener asks nobody who they are: keep it on loopback or a private network.', {
      default: '127.0.0.1',
      format: 'host',
      maxLength: 253,
    }),
    port: count(9090, 'TCP port. 0 picks a free one.', { zero: true, maximum: 65_535 }),
  },
  { default: {}, description: 'The second listener: probes, metrics, drain. Never the public one.' },
);

/** `ops`, every default filled. */
export type OpsConfig = Filled<typeof OpsSchema>;
