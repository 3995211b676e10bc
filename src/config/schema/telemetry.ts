import { Type } from 'typebox';
import { choice, type Filled, fileName, flag, section } from './fields.js';

const LogSchema = section(
  {
    level: choice(['debug', 'info', 'warn', 'error'], 'info', 'The least severity that is written. Denials and errors are always logged.'),
    access: flag(false, 'One line for each request that a route took, at level info, when its answer is over.'),
    format: choice(['auto', 'json', 'pretty'], 'auto', 'auto: pretty on a terminal, one JSON object a line elsewhere.'),
  },
  { default: {}, description: 'The log, on standard output.' },
);

const AuditSchema = section(
  {
    file: fileName('Where decisions go, one JSON object a line; "-" is standard output.'),
    principal: choice(
      ['as_is', 'sha256'],
      'as_is',
      'sha256 writes one pseudonym instead of issuer and principal: equal callers stay equal, guessable names can be guessed.',
    ),
    admissions: flag(false, 'true: requests that were admitted get a line too. Denials always have one.'),
  },
  { description: 'The audit trail of decisions. Absent: none.' },
);

export const TelemetrySchema = section(
  { log: LogSchema, audit: Type.Optional(AuditSchema) },
  { default: {}, description: 'What the gateway tells about itself.' },
);

/** `telemetry`, every default filled. */
export type TelemetryConfig = Filled<typeof TelemetrySchema>;
