import type { Answers, Callers, MtlsSource } from './answers.js';

/** Names of the gates of the route, in their order. */
export function gatesUsed({ mtls, oauth, api_key }: Callers): readonly string[] {
  return [...(mtls === undefined ? [] : ['cert']), ...(oauth === undefined ? [] : ['token']), ...(api_key === undefined ? [] : ['key'])];
}

/** The section `gates`. */
export function gatesText({ callers, path }: Answers): string {
  const { mtls, oauth, api_key } = callers;
  const parts = ['gates:\n'];
  if (mtls !== undefined) parts.push(mtlsText(mtls.source));
  if (oauth !== undefined) parts.push(oauthText(oauth.issuer, oauth.audience, path));
  if (api_key !== undefined) parts.push(apiKeyText(api_key.sha256_file));
  return parts.join('');
}

function oauthText(issuer: string, audience: string | undefined, path: string): string {
  return `  token:
    # Callers bring a bearer token of this authorization server; clients find it by the RFC 9728 document that the gateway serves.
    use: oauth-bearer
    options:
      # Compared with iss letter for letter.
      issuer: ${JSON.stringify(issuer)}
      # What aud must hold, letter for letter. Left out: the URL that clients dial, listener.public_url followed by ${path}.
      ${audience === undefined ? '# audience: https://mcp.example.com/mcp' : `audience: ${JSON.stringify(audience)}`}
      # Scopes that every call needs, and more of them by tool.
      # required_scopes: [mcp.read]
      # tool_scopes: { "delete_*": [mcp.write] }
`;
}

function apiKeyText(file: string): string {
  return `  key:
    # For scripts and probes: a key in the header x-api-key. Only its SHA-256 is kept.
    # Another one: printf %s KEY | sha256sum > ${file}
    use: api-key
    options:
      keys:
        - { name: script, sha256_file: ${JSON.stringify(file)} }
`;
}

function mtlsText(source: MtlsSource): string {
  const who =
    source === 'direct'
      ? 'Callers show a client certificate of listener.tls.client_ca_file to this listener.'
      : `Callers show a client certificate to the TLS terminator, which hands it over (source ${source}). docs/mtls.md has its config.`;
  const more = MORE[source] ?? [];
  return `  cert:
    # ${who}
    use: mtls
    options:
      source: ${source}
${more.map((line) => `      ${line}\n`).join('')}      # Every certificate of the CA is let in, unless one of these narrows it.
      # spiffe_trust_domains: [corp.example]
      # allow: { dns_sans: [agent.corp.example] }
`;
}

/** What a source cannot do without. */
const MORE: Partial<Record<MtlsSource, readonly string[]>> = {
  nginx: ['# The headers that its config sets: proxy_set_header.', 'cert_header: x-ssl-cert', 'verify_header: x-ssl-verify'],
  haproxy: ['# The headers that its config sets: http-request set-header.', 'cert_header: x-ssl-cert', 'verify_header: x-ssl-verify'],
  rfc9440: ['# Without this header Client-Cert is not believed.', 'verified_header: { name: x-client-verified, value: "1" }'],
  alb: ['# The load balancer verifies the chain.', 'mode: verify'],
};
