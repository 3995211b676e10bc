import { Type } from 'typebox';
import { choice, count, type Filled, fileName, flag, list, section, text } from './fields.js';
import { LimitsSchema } from './limits.js';

const SessionsSchema = section(
  {
    keys: list(
      text('A secret of at least 16 characters, better 32 and more. The first seals, every one opens.', { format: 'session-key' }),
      'At most two secrets of at least 16 characters, better 32 and more, that seal legacy session ids, task ids and requestState (AES-256-GCM), newest first; rotate by putting the new one in front. Empty: one random key for each process, so none of them survives a restart or is shared by replicas.',
      2,
    ),
    ttl_s: count(86_400, 'Seconds that the sealed id of a legacy session on a proxied or stdio server stays valid.'),
  },
  { default: {}, description: 'How legacy session ids are sealed. Nothing is stored.' },
);

const TlsSchema = section(
  {
    cert_file: fileName('Certificate chain, PEM, leaf first.'),
    key_file: fileName('Private key, PEM.'),
    client_ca_file: Type.Optional(
      fileName('CA certificates that client certificates must chain to, PEM. Absent: no client certificate is requested.'),
    ),
    client_certificates: choice(
      ['request', 'require'],
      'request',
      'With client_ca_file: request asks and leaves the decision to the gates; require ends the handshake of a client without a valid one.',
    ),
    min_version: choice(['TLSv1.2', 'TLSv1.3'], 'TLSv1.2', 'The oldest accepted TLS version.'),
  },
  { description: 'Terminate TLS here. Absent: plaintext, for loopback or behind a TLS terminator.' },
);

export const ListenerSchema = section(
  {
    host: text('Address or name to listen on. A plaintext listener outside loopback logs a warning at startup, with or without gates.', {
      default: '127.0.0.1',
      format: 'host',
      maxLength: 253,
    }),
    port: count(8080, 'TCP port. 0 picks a free one; the bound URL is logged and returned by the API.', { zero: true, maximum: 65_535 }),
    public_url: Type.Optional(
      text(
        'How clients see this gateway: http(s) URL without query, fragment or trailing slash. Discovery documents and audiences are built from it, never from Host.',
        {
          format: 'public-url',
        },
      ),
    ),
    trusted_proxies: list(
      text('A CIDR without host bits (10.0.0.0/8, not 10.1.2.3/8), or an address.', { format: 'cidr' }),
      'CIDRs of the proxies whose X-Forwarded-For and client-certificate headers are trusted. Empty: none.',
    ),
    allowed_origins: list(
      text('host, host:port or scheme://host[:port].', { format: 'listed-origin', maxLength: 512 }),
      'Origins that may call besides the loopback names. host allows every port, host:port pins it, a full origin (http or https) pins the scheme too. A request without Origin is not affected.',
    ),
    allowed_hosts: list(
      text('host or host:port.', { format: 'authority', maxLength: 512 }),
      'Accepted Host headers. Empty: not checked, because reverse proxies commonly forward the public name.',
    ),
    cors: flag(false, 'Answer CORS preflights of the allowed origins and put CORS headers on every answer to them, refusals included.'),
    chunked_requests: choice(
      ['accept', 'refuse'],
      'accept',
      'Request bodies with Transfer-Encoding: chunked, which some clients and proxies send. accept: limited like a declared length (413 as soon as max_body_bytes is exceeded, 400 for chunks under 16 bytes on average beyond 64 KiB). refuse: 411. Any other or ambiguous framing is always refused.',
    ),
    keep_alive: flag(true, 'false: one request for each connection.'),
    sessions: SessionsSchema,
    tls: Type.Optional(TlsSchema),
    gates: list(text('A name of the gates section.'), 'Gates that run before routing, in this order.', 32),
    limits: LimitsSchema,
  },
  { default: {}, description: 'The public listener.' },
);

/** `listener`, every default filled. */
export type ListenerConfig = Filled<typeof ListenerSchema>;
