import { Type } from 'typebox';
import {
  choice,
  count,
  environment,
  type Filled,
  type Frozen,
  fileName,
  flag,
  headerFields,
  list,
  named,
  section,
  text,
} from './fields.js';

const connectionAge = {
  connection_max_age_ms: count(
    300_000,
    'Age at which a connection is closed after its answer, ± 20 % so that connections do not all close at once. The next connection resolves the host name again. Open streams are not cut.',
  ),
};

/** How the callers of a runtime share its connections. */
const callerShares = {
  max_running_per_caller: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description:
        'Calls and streams of one caller at once: a principal, or the address (of IPv6 the /64) of one whom no gate identified. The rest of its calls wait. Absent: half of connections.',
    }),
  ),
  max_waiting: count(
    256,
    'Calls that wait for a connection, fairly shared: callers are served in turn. When the queue is full, a new caller displaces the newest call of the caller with the most waiting calls, which is OVERLOADED.',
    { maximum: 65_535 },
  ),
};

const BRIDGE = "How servers of legacy revisions serve modern clients, and how the gateway detects the server's era.";

/** Sessions of modern clients that a legacy server may ask something, and the calls that wait for their answers. */
const heldCalls = (idle: string) => ({
  session_idle_ms: count(300_000, idle),
  max_held: count(
    1024,
    'Calls that wait, without their client, for its answer to a question of the server. For one more the question is refused to the server. 0: clients are never asked, and servers are told so.',
    { zero: true, maximum: 65_535 },
  ),
  max_held_per_caller: count(16, 'Those of one caller.', { maximum: 65_535 }),
  hold_ttl_ms: count(300_000, 'How long such a call waits. Then it is cancelled at the server.'),
});

/** How the era of a server behind a pipe is found out. */
const bridge = (what: 'process' | 'connection') =>
  section(
    {
      probe_timeout_ms: count(
        5000,
        `How long the server may take to answer server/discover. Then it counts as legacy: that ${what} is ended, and a new one begins with initialize.`,
      ),
      era_ttl_ms: count(
        300_000,
        'How long the gateway remembers that a server did not answer server/discover, or ended, before it asks again.',
      ),
      ...heldCalls(
        `A modern call whose client can be asked has a ${what} for itself; an identified caller’s is kept for its next calls, and ended after so long without one.`,
      ),
    },
    { description: BRIDGE, default: {} },
  );

/** How a server over HTTP serves clients of another era. */
const httpBridge = section(
  {
    probe_timeout_ms: count(
      5000,
      'How long a modern call waits while the gateway finds out the era of the server by server/discover. Then the call goes on as it is.',
    ),
    era_ttl_ms: count(300_000, 'Age at which the gateway asks a legacy server again whether it has become modern.'),
    max_sessions: count(
      256,
      'Sessions that the gateway holds on a legacy server for modern callers, one for each caller and route. One more ends the one that was idle longest; when none is idle, the call is OVERLOADED.',
      {
        maximum: 65_535,
      },
    ),
    max_sessions_per_caller: count(
      8,
      'Those of one caller whom a gate identified, by the same rule, but that a call waits for one of them, up to its deadline.',
      { maximum: 65_535 },
    ),
    ...heldCalls('A session without a call for so long is ended with DELETE.'),
  },
  { description: BRIDGE, default: {} },
);

const ProxiedSchema = section(
  {
    kind: Type.Literal('proxied', { description: 'An MCP server.' }),
    url: text(
      'URL of the MCP server: http(s), without userinfo or fragment. A query is sent with every request and never shown. Client input never changes the URL.',
      {
        format: 'upstream-url',
      },
    ),
    headers: headerFields("Header fields added to every upstream request, e.g. the gateway's own credential."),
    ca_file: Type.Optional(fileName("CA certificates that the upstream's certificate must chain to, PEM. Absent: the usual public ones.")),
    connections: count(1024, 'Open upstream connections. An open stream holds one. Calls beyond it wait, then are OVERLOADED.', {
      maximum: 65_535,
    }),
    ...connectionAge,
    ...callerShares,
    max_streams: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description:
          'Open subscriptions and legacy GET streams together, so that calls find a connection. One more is 503, TOO_MANY_STREAMS. Absent: half of connections.',
      }),
    ),
    tasks: choice(
      ['bind', 'pass'],
      'bind',
      'bind: the task ids that an identified caller gets (MCP extension io.modelcontextprotocol/tasks) work by this route and for this caller alone, sealed with listener.sessions.keys; keep old keys as long as tasks live. Callers whom no gate identified get the ids of the server. pass: everybody does.',
    ),
    max_event_bytes: count(
      8_000_000,
      'Bytes of one upstream event, and of one upstream answer that has to be parsed. More are UPSTREAM_BROKEN.',
    ),
    transport: choice(
      ['http', 'sse'],
      'http',
      'http: Streamable HTTP. sse: the HTTP+SSE transport of revision 2024-11-05; url is that of its event stream, often …/sse, and the endpoint that the server names must have the same origin. Such a server is legacy, whatever protocol says. Each session holds a stream; bridge.max_sessions, bridge.max_sessions_per_caller and max_streams bound those of legacy clients too, which end after an hour without a message of the client.',
    ),
    protocol: choice(
      ['auto', 'as_is', 'modern', 'legacy'],
      'auto',
      'How calls reach a server of another protocol era than their client. auto: the gateway finds out what the server speaks, and calls of the same era go on byte for byte. Modern clients of a legacy server are served over sessions of the gateway’s own: a question of the server (elicitation, sampling, roots) becomes a result of type input_required, and the client’s retry answers it. Legacy clients of a modern server are served by modern calls: what such a server wants to know first is asked of the client on the stream of its call. modern, legacy: the server speaks revisions of that era alone, and is not asked. as_is: every call goes on as its client wrote it, and a client of the other era is refused by the server.',
    ),
    bridge: httpBridge,
  },
  { description: 'An MCP server over Streamable HTTP, in any protocol era, or over the older HTTP+SSE.' },
);

const HttpSchema = section(
  {
    kind: Type.Literal('http', { description: 'Plain HTTP.' }),
    url: text("Base URL of the HTTP service: http(s), without userinfo, query or fragment. It takes the place of the route's path.", {
      format: 'plain-url',
    }),
    headers: headerFields("Header fields added to every upstream request, e.g. the gateway's own credential."),
    ca_file: Type.Optional(fileName("CA certificates that the upstream's certificate must chain to, PEM. Absent: the usual public ones.")),
    forward_authorization: flag(false, "Pass the client's Authorization header on. Only for a service that is meant to see these tokens."),
    forward_cookies: flag(true, "Pass the client's cookies on. Those that the service sets are confined to the route's path."),
    request_headers: list(
      text('A header field.', { format: 'passed-header', maxLength: 128 }),
      'More request header fields that pass to the service, beside the usual ones of browsers and OAuth clients.',
      64,
    ),
    redirects: choice(
      ['own', 'any'],
      'own',
      "own: a redirect of the service out of the route's path is 502. any: it is relayed, as an authorization server needs.",
    ),
    response_timeout_ms: count(60_000, 'Until the service begins to answer. Then 504. Bodies have no timer: streams stay open.'),
    connections: count(1024, 'Open upstream connections. An open stream holds one.', { maximum: 65_535 }),
    ...connectionAge,
    ...callerShares,
  },
  { description: 'Plain HTTP beside MCP (an authorization server, a UI), mounted under the path of its route.' },
);

const HostedSchema = section(
  {
    kind: Type.Literal('hosted', { description: 'A server in this process.' }),
    module: text(
      "The module whose named export `server` is served: a file, or npm:PACKAGE, resolved from the config file's folder and never installed. Relative names start at the config file's folder. It is loaded once; a changed module needs a restart.",
    ),
    max_concurrency: count(32, 'Calls that run at once.', { maximum: 65_535 }),
    max_queue: count(256, 'Calls that wait for their turn, fairly shared among callers. One more is OVERLOADED.', { maximum: 65_535 }),
  },
  { description: 'A server that runs in this process, in every protocol era: made by defineServer of portcullis/server.' },
);

/** Limits of legacy sessions for a server with a single client; each session has its own `what`. */
const sessionLimits = (what: 'process' | 'connection') => ({
  max_sessions: count(
    48,
    `Sessions of legacy clients, and of modern ones whom a legacy server may ask something, each with its own ${what}. One more ends one of the latter that is idle, or for a legacy client the session that was idle longest; when none is idle, it is OVERLOADED.`,
    { maximum: 4096 },
  ),
  max_sessions_per_caller: count(
    16,
    'The same for the sessions of one identified caller, counted apart for legacy and modern clients. A call of a modern client waits for one of them, up to its deadline.',
    { maximum: 4096 },
  ),
});

const StdioSchema = section(
  {
    kind: Type.Literal('stdio', { description: 'An MCP server that runs as a child process.' }),
    command: text('The program, found in PATH and run without a shell.', { format: 'process-text' }),
    args: list(
      Type.String({ maxLength: 65_536, format: 'process-text', description: 'One argument, exactly as it is given.' }),
      'The program arguments.',
    ),
    cwd: text("Folder that the program starts in. Relative names start at the config file's folder.", {
      default: '.',
      format: 'process-text',
    }),
    env: environment(
      'Added to PATH, HOME, LANG, TMPDIR and USER, the only variables that the program inherits from the gateway. Values of at least 8 characters under a name that suggests a secret are [redacted] in the program’s standard error.',
    ),
    max_children: count(64, 'Concurrent processes, including those that are exiting. One more is OVERLOADED.', { maximum: 4096 }),
    ...sessionLimits('process'),
    max_pending: count(1024, 'Calls that wait for one process. One more is OVERLOADED.', { maximum: 65_535 }),
    idle_ttl_ms: count(
      3_600_000,
      'How long a legacy session may go without a client message, whether or not a stream is open. Then its process is stopped and its id is forgotten.',
    ),
    start_timeout_ms: count(60_000, 'From the start of a process until it answers. Then it is stopped and started again.'),
    bridge: bridge('process'),
    max_line_bytes: count(
      8_000_000,
      'Bytes of one message of the process. A longer one is dropped, counted and logged; the call that it answers ends with UPSTREAM_BROKEN.',
      {
        maximum: 268_435_456,
      },
    ),
  },
  {
    description:
      'An MCP server that speaks over standard input and output, run by the gateway: one process for all modern clients, one more for each legacy session. On a route with forward_identity each request carries the caller’s identity in params._meta["portcullis/identity"], whatever the name of the header.',
  },
);

const TransportSchema = section(
  {
    kind: Type.Literal('transport', { description: 'An MCP server behind a transport of your own.' }),
    module: text(
      "The module whose named export `transport` connects to the server: npm:PACKAGE, resolved from the config file's folder and never installed, or file:./transport.js. It is loaded once; a changed module needs a restart.",
      { pattern: '^(npm:.+|file:.+)$', maxLength: 512 },
    ),
    options: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      default: {},
      description: "The transport's options, checked against its schema.",
    }),
    connections: count(64, 'Concurrent connections to the server, including those that are closing. One more is OVERLOADED.', {
      maximum: 4096,
    }),
    ...sessionLimits('connection'),
    max_pending: count(1024, 'Calls that wait on one connection. One more is OVERLOADED.', { maximum: 65_535 }),
    idle_ttl_ms: count(
      3_600_000,
      'How long a legacy session may go without a client message, whether or not a stream is open. Then its connection is closed and its id is forgotten.',
    ),
    start_timeout_ms: count(60_000, 'From the start of a connection until the server answers. Then it is ended and tried again.'),
    bridge: bridge('connection'),
    max_message_bytes: count(
      8_000_000,
      'Bytes of one message of the server. A longer one is dropped, counted and logged; the call that it answers ends with UPSTREAM_BROKEN.',
      {
        maximum: 268_435_456,
      },
    ),
  },
  {
    description:
      'An MCP server reached through a third-party transport: one connection for all modern clients, one more for each legacy session. On a route with forward_identity each request carries the caller’s identity in params._meta["portcullis/identity"].',
  },
);

/** Every kind of runtime, by the value of `kind`. */
export const RUNTIME_KINDS = {
  proxied: ProxiedSchema,
  http: HttpSchema,
  hosted: HostedSchema,
  stdio: StdioSchema,
  transport: TransportSchema,
} as const;

/** One entry of `runtimes`; `kind` tells which. */
export type RuntimeConfig = { [K in keyof typeof RUNTIME_KINDS]: Frozen<Filled<(typeof RUNTIME_KINDS)[K]>> }[keyof typeof RUNTIME_KINDS];

const RuntimeSchema = Type.Unsafe<RuntimeConfig>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: Object.values(RUNTIME_KINDS),
});

export const RuntimesSchema = named(RuntimeSchema, 'Where routes end, by a name of your choice.');
