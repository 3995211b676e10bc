import { flag, section } from './fields.js';

export const ReloadSchema = section(
  {
    watch: flag(
      true,
      'Watch the config file and put a changed one in force, as SIGHUP and POST /reload on the ops listener do. A file that cannot be used changes nothing. listener.host, port, tls, keep_alive and limits, ops and telemetry need a restart.',
    ),
  },
  { default: {}, description: 'How a changed config is put in force: gates, routes and runtimes as one whole, without dropping a stream.' },
);
