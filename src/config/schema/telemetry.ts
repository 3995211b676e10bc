import { Type } from 'typebox';
import { choice, count, type Filled, fileName, flag, headerFields, section, text } from './fields.js';

const LogSchema = section(
  {
    level: choice(['debug', 'info', 'warn', 'error'], 'info', 'The least severity that is written. Denials and errors are always logged.'),
    access: flag(false, 'One line for each request that a route took, at level info, when its answer is over.'),
    format: choice(['auto', 'json', 'pretty'], 'auto', 'auto: pretty on a terminal, one JSON object a line elsewhere.'),
  },
  { default: {}, description: 'The log on standard output.' },
);

const AuditSchema = section(
  {
    file: fileName(
      'Where decisions go, one JSON object a line; "-" is standard output. A file that was renamed, as log rotation does, is reopened.',
    ),
    principal: choice(
      ['as_is', 'sha256'],
      'as_is',
      'sha256 writes one pseudonym instead of issuer and principal: equal callers stay equal, guessable names can be guessed.',
    ),
    admissions: flag(false, 'true: requests that were admitted get a line too. Denials always have one.'),
  },
  { description: 'The audit trail of decisions. Absent: none.' },
);

const TracingSchema = section(
  {
    endpoint: text('The URL that spans are posted to, OTLP/HTTP in JSON, e.g. http://127.0.0.1:4318/v1/traces.', {
      format: 'plain-url',
    }),
    headers: headerFields("Header fields added to every export, e.g. the collector's API key."),
    ca_file: Type.Optional(fileName("CA certificates that the collector's certificate must chain to, PEM. Absent: the usual public ones.")),
    sample_ratio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Share of the traces begun here that are recorded. With parent: follow, the caller decides for its traces.',
    }),
    parent: choice(
      ['follow', 'link'],
      'follow',
      "follow: a request continues its caller's trace, sampling included. link: it begins a new trace that links to the caller's; for callers that are not trusted.",
    ),
    principal: choice(['none', 'sha256'], 'none', "sha256: enduser.pseudo.id is the caller's pseudonym, the same as the audit trail's."),
    service_name: text('service.name of the spans.', { default: 'portcullis', maxLength: 255 }),
    resource: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      propertyNames: { pattern: '^[a-z][a-z0-9_.]{0,127}$' },
      additionalProperties: { type: 'string', maxLength: 1024 },
      maxProperties: 64,
      default: {},
      description: 'More resource attributes, e.g. deployment.environment.name. They win over service_name.',
    }),
    interval_ms: count(5000, 'The longest that a finished span waits before it is sent.', { maximum: 600_000 }),
    timeout_ms: count(10_000, 'For one export. A slow collector costs spans and nothing else.', { maximum: 600_000 }),
  },
  { description: 'Traces by OpenTelemetry. Absent: none.' },
);

export const TelemetrySchema = section(
  { log: LogSchema, audit: Type.Optional(AuditSchema), tracing: Type.Optional(TracingSchema) },
  { default: {}, description: 'Log, audit trail and traces.' },
);

/** `telemetry`, every default filled. */
export type TelemetryConfig = Filled<typeof TelemetrySchema>;
