import { stringify } from 'yaml';
import { isLoopback } from '../../config/format/network.js';
import type { Answers, ServerChoice, TlsFiles } from './answers.js';
import { gatesText, gatesUsed } from './gates.js';

/** The config that the answers make, as YAML with a comment for each choice. `schema` is where editors find the JSON Schema. */
export function composeConfig(answers: Answers, schema: string): string {
  const { callers, server } = answers;
  const gates = gatesUsed(callers);
  return `# yaml-language-server: $schema=${schema}
#
# Written by: portcullis init. Every key is described in config/REFERENCE.md of the package.
# After a change: portcullis validate. A running gateway takes a changed file over by itself.

${listenerText(answers)}
ops:
  # Probes, metrics, state and drain. It asks nobody who they are: keep it on loopback or a private network.
  host: 127.0.0.1
  port: ${answers.ops_port}

${gates.length === 0 ? '' : `${gatesText(answers)}\n`}${runtimeText(server)}
routes:
  # The exact path that clients dial.
  - path: ${scalar(answers.path)}
${gates.length === 0 ? PUBLIC : `    # Asked in this order, before a byte of the body is read.\n    gates: [${gates.join(', ')}]\n`}    runtime: server
`;
}

function listenerText({ host, port, public_url, tls, trusted_proxies }: Answers): string {
  const reach = isLoopback(host)
    ? 'Only this machine reaches a loopback address. For others: an address of the network, and TLS in front or here.'
    : tls === undefined
      ? 'Others reach this address, and the traffic is plaintext: put a TLS terminator in front, or set tls.'
      : 'Others reach this address.';
  const lines = [
    `# ${reach}`,
    `host: ${scalar(host)}`,
    `port: ${port}`,
    '# How clients see this gateway. Discovery documents and audiences are built from it, never from Host.',
    public_url === undefined ? '# public_url: https://mcp.example.com' : `public_url: ${scalar(public_url)}`,
    ...(trusted_proxies.length === 0
      ? []
      : [
          '# The TLS terminator: the only source whose X-Forwarded-For and certificate headers are trusted.',
          `trusted_proxies: [${flow(trusted_proxies)}]`,
        ]),
    ...(tls === undefined ? [] : tlsLines(tls)),
    '# Seals the session ids of clients before 2026-07-28. Without it a restart ends their sessions, and replicas share none.',
    '# Make the file with: openssl rand -base64 32 > session.key',
    '# sessions: { keys: ["${file:./session.key}"] }',
  ];
  return `listener:\n${indented(lines)}`;
}

function tlsLines({ cert_file, key_file, client_ca_file }: TlsFiles): readonly string[] {
  const client =
    client_ca_file === undefined
      ? []
      : [
          '  # The CA of the client certificates. request leaves the decision to the gates; require ends the handshake without one.',
          `  client_ca_file: ${scalar(client_ca_file)}`,
          '  client_certificates: request',
        ];
  return [
    '# TLS ends here. Renewed files are taken over without a restart.',
    'tls:',
    `  cert_file: ${scalar(cert_file)}`,
    `  key_file: ${scalar(key_file)}`,
    ...client,
  ];
}

function runtimeText(server: ServerChoice): string {
  if (server.kind === 'proxied')
    return `runtimes:
  server:
    # An MCP server over Streamable HTTP. Nothing that a client sends shapes this URL.
    kind: proxied
${server.url.includes('?') ? '    # Its query is sent with every request. A key in it is better kept outside of this file: write ${NAME} for it.\n' : ''}    url: ${scalar(server.url)}
    # The gateway's own credential there; a caller's token is never passed on.
    # headers: { authorization: "Bearer \${SERVER_TOKEN}" }
`;
  return `runtimes:
  server:
    # An MCP server over stdio: a child of the gateway, started without a shell and ended with it.
    kind: stdio
    command: ${scalar(server.command)}
    args: [${flow(server.args)}]
    # Beside PATH, HOME, LANG, TMPDIR and USER it gets only what is named here.
    # env: { API_TOKEN: "\${API_TOKEN}" }
`;
}

const PUBLIC = `    # Nobody is asked who they are: everybody who reaches the port may call.
    public: true
`;

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}

/** A text as a value of a mapping that is written line by line. */
function scalar(text: string): string {
  return stringify(text, { lineWidth: 0, defaultStringType: 'PLAIN' }).trimEnd();
}

function flow(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}
