import type { RequestRecord } from '../contract/telemetry.js';
import { METHODS } from '../telemetry/label-values.js';

/** Tools and prompts that are part of a span's name; further ones are in its attributes alone. */
const MAX_TARGETS = 1_000;
const TARGET = /^[A-Za-z0-9_./-]{1,128}$/;

/** Names spans after the method and, where a server has answered under it, the tool or prompt: nothing a stranger makes up. */
export class SpanNames {
  readonly #methods: ReadonlySet<string> = new Set(METHODS.slice(2));
  readonly #targets = new Set<string>();

  /** `GET /mcp` for a request without a message. */
  of(record: RequestRecord, http_method: string, target: string | undefined): string {
    const { method, outcome, route } = record;
    if (method === '') return `${http_method} ${route}`;
    if (!this.#methods.has(method)) return 'other';
    const known = outcome === 'ok' || outcome === 'tool_error';
    const named = method === 'tools/call' || method === 'prompts/get';
    return named && known && target !== undefined && this.#mayName(target) ? `${method} ${target}` : method;
  }

  #mayName(target: string): boolean {
    if (this.#targets.has(target)) return true;
    if (this.#targets.size >= MAX_TARGETS || !TARGET.test(target)) return false;
    this.#targets.add(target);
    return true;
  }
}
