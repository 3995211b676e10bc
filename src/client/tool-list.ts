import type { Log } from '../contract/log.js';
import { type ParamHeader, paramHeadersOf } from '../core/define/param-headers.js';
import type { Tool } from './options.js';

/**
 * What a modern server's lists told of its tools: which arguments are mirrored into headers. A tool whose `x-mcp-header` breaks the
 * rules is dropped with a warning (MCP 2026-07-28, Streamable HTTP, "Schema Extension").
 */
export class ToolList {
  readonly #log: Log;
  #mirrored = new Map<string, readonly ParamHeader[]>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes a whole list; returns the tools that can be called. */
  learn(tools: readonly Tool[]): readonly Tool[] {
    const mirrored = new Map<string, readonly ParamHeader[]>();
    const sound = tools.filter((tool) => {
      const problems: string[] = [];
      const { name, inputSchema } = tool;
      const params =
        typeof inputSchema === 'object' && inputSchema !== null ? paramHeadersOf(inputSchema, (why) => void problems.push(why)) : [];
      if (problems.length > 0) this.#log.warn({ tool: name, why: problems }, 'a tool was dropped: its x-mcp-header is not valid');
      else if (params.length > 0) mirrored.set(name, params);
      return problems.length === 0;
    });
    this.#mirrored = mirrored;
    return sound;
  }

  mirrored(name: string): readonly ParamHeader[] {
    return this.#mirrored.get(name) ?? [];
  }
}
