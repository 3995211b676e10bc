import type { Clock } from '../../contract/clock.js';
import type { Telemetry } from '../../contract/telemetry.js';

/** Reads the tool names of a server's own `tools/list` answers, so that metrics may name them. */
export interface ToolsLearner {
  /** `message` is one whole JSON-RPC response. Over `LEARN_BYTES`, or too often, it is not looked at. */
  learn(route: string, message: Uint8Array): void;
}

/** The largest answer that is parsed for names. */
export const LEARN_BYTES = 262_144;

/** Parses at most 20 answers a route in 10 s: enough for every page of a list, nothing for a client that asks in a loop. */
export function createToolsLearner(telemetry: Telemetry, clock: Clock): ToolsLearner {
  const windows = new Map<string, { until_ms: number; left: number }>();
  return {
    learn(route, message) {
      if (message.length > LEARN_BYTES) return;
      const now = clock.mono_ms();
      let window = windows.get(route);
      if (window === undefined || now >= window.until_ms) windows.set(route, (window = { until_ms: now + 10_000, left: 20 }));
      if (window.left === 0) return;
      window.left -= 1;
      const names = toolNames(message);
      if (names.length > 0) telemetry.toolsListed(route, names);
    },
  };
}

function toolNames(message: Uint8Array): readonly string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(message.buffer, message.byteOffset, message.length).toString());
  } catch {
    return [];
  }
  const tools = (parsed as { readonly result?: { readonly tools?: unknown } } | null)?.result?.tools;
  if (!Array.isArray(tools)) return [];
  return tools
    .slice(0, 200)
    .map((tool: { readonly name?: unknown } | null) => tool?.name)
    .filter((name): name is string => typeof name === 'string' && name !== '' && name.length <= 128);
}
