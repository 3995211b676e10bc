import { defineGate, type GateDecision, type RequestGate } from 'portcullis/gate';
import { toGlobs } from './glob.js';
import { Options } from './options.js';
import { climbs } from './uri.js';

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
