import { defineGate, type GateDecision, type RequestGate, type Static, Type } from 'portcullis/gate';

const globs = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 1_000,
      description: `${description} * is any run of characters.`,
    }),
  );
/** The options of the method-allow gate. A key left out allows all of its kind, an empty list none. */
const Options = Type.Object(
  {
    methods: globs('MCP methods, e.g. tools/*. Legacy clients also need initialize and notifications/*.'),
    tools: globs('Tools of tools/call.'),
    prompts: globs('Prompts of prompts/get.'),
    resources: globs('URIs of resources/read, resources/subscribe and resources/unsubscribe.'),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** Characters of a text that is compared at all; a longer one matches nothing but a bare `*`. */
const MAX_TEXT_CHARS = 4_096;

const PASS: GateDecision = { kind: 'pass' };
const refuse = (code: string, message: string): GateDecision => ({ kind: 'refuse', status: 403, code, message, about: 'call' });
const METHOD = refuse('MCP_METHOD_NOT_ALLOWED', 'This MCP method is not allowed on this route.');
const TOOL = refuse('TOOL_NOT_ALLOWED', 'This tool is not allowed on this route.');
const PROMPT = refuse('PROMPT_NOT_ALLOWED', 'This prompt is not allowed on this route.');
const RESOURCE = refuse('RESOURCE_NOT_ALLOWED', 'This resource is not allowed on this route.');

/**
 * Passes MCP methods, tools, prompts and resources by name. The modern era is judged by its head: Mcp-Method and Mcp-Name bind the
 * body, which is compared with them. A legacy message is judged once its body was scanned, before the runtime runs; its head
 * alone says nothing. A client's answer to a server's request, a legacy GET stream and a DELETE name no method and pass.
 * It says what may be called, not by whom; its pass admits as every allowlist's does. Stands before MCP routes only.
 */
export const gate = defineGate({
  name: 'method-allow',
  contract: 1,
  options: Options,
  authorizes: true,
  provides: [],
  codes: {
    MCP_METHOD_NOT_ALLOWED: { status: 403, meaning: 'The MCP method matches no entry of methods.', remedy: 'Call an allowed method.' },
    TOOL_NOT_ALLOWED: { status: 403, meaning: 'The tool’s name matches no entry of tools.', remedy: 'Call an allowed tool.' },
    PROMPT_NOT_ALLOWED: { status: 403, meaning: 'The prompt’s name matches no entry of prompts.', remedy: 'Use an allowed prompt.' },
    RESOURCE_NOT_ALLOWED: {
      status: 403,
      meaning: 'The resource’s URI matches no entry of resources, or has dot segments.',
      remedy: 'Read an allowed resource and write its URI plainly.',
    },
  },
  open(options): RequestGate {
    const judge = toJudge(options);
    return {
      // A modern POST without a method is refused before the gates, or after them when its revision is unknown.
      decide: ({ claims }) => (claims.era === 'legacy' || claims.method === undefined ? PASS : judge(claims.method, claims.name)),
      decideCall: ({ method, name }) => (method === '' ? PASS : judge(method, name)),
    };
  },
});

function toJudge(options: Options): (method: string, name: string | undefined) => GateDecision {
  const all = (): boolean => true;
  const methods = options.methods === undefined ? all : toGlobs(options.methods);
  const tools = options.tools === undefined ? all : toGlobs(options.tools);
  const prompts = options.prompts === undefined ? all : toGlobs(options.prompts);
  const globs = options.resources === undefined ? undefined : toGlobs(options.resources);
  const resources = globs === undefined ? all : (uri: string): boolean => globs(uri) && !climbs(uri);
  return (method, name) => {
    if (!methods(method)) return METHOD;
    switch (method) {
      case 'tools/call':
        return options.tools === undefined || (name !== undefined && tools(name)) ? PASS : TOOL;
      case 'prompts/get':
        return options.prompts === undefined || (name !== undefined && prompts(name)) ? PASS : PROMPT;
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return options.resources === undefined || (name !== undefined && resources(name)) ? PASS : RESOURCE;
      default:
        return PASS;
    }
  };
}

/**
 * True for texts that one of the patterns describes as a whole. Case counts; `*` is any run of characters, empty too, `/` too;
 * nothing else is special. Time is linear in text and pattern: the parts between the stars are looked for from left to right,
 * each once, and the leftmost find is always good enough.
 */
export function toGlobs(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const starred = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (text) => text.length <= MAX_TEXT_CHARS && (exact.has(text) || starred.some((parts) => matches(parts, text)));
}

/** `parts` are what stands around the stars: at least two, the first at the text's start, the last at its end. */
function matches(parts: readonly string[], text: string): boolean {
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let i = 1; i < parts.length - 1; i += 1) {
    const part = parts[i] as string;
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * True when a URI has a `.` or `..` segment, written out, escaped, escaped twice or with backslashes: a server that resolves it ends up
 * elsewhere than where the text seems to point (RFC 3986 section 5.2.4).
 */
export function climbs(uri: string): boolean {
  // Every run of escaped percent signs in one pass: unwinding them one by one costs the square of a hostile URI's length.
  const once = uri.toLowerCase().replace(/%(?:25)+/g, '%');
  const plain = once.replaceAll('%2e', '.').replaceAll('%2f', '/').replaceAll('%5c', '/').replaceAll('\\', '/');
  return plain.split(/[/?#]/).some((segment) => segment === '.' || segment === '..');
}

type Options = Static<typeof Options>;
