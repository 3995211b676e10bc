import { flag, section } from './fields.js';

export const ReloadSchema = section(
  {
    watch: flag(
      true,
      'Watch the config file and put a changed one in force, as SIGHUP and POST /reload on the ops listener do. A file that cannot be used changes nothing. listener.host, port, tls, keep_alive and limits, ops, telemetry and reload need a restart, and so does a changed file of a gate, hosted server or transport; a reload names them.',
    ),
  },
  { default: {}, description: 'How a changed config is put in force: gates, routes and runtimes as one whole, without dropping a stream.' },
);
