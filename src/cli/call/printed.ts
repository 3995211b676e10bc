import type { Agreement, Progress, Tool } from '../../client.js';
import type { ContentBlock, ToolResult } from '../../contract/content.js';

/** The tools of a server for people: name, arguments and first line of the description; or as JSON. */
export function printTools({ server_info, era, revision }: Agreement, tools: readonly Tool[], json: boolean): string {
  if (json) return `${JSON.stringify(tools, null, 2)}\n`;
  const who = server_info === undefined ? 'a server without a name' : `${server_info.name} ${server_info.version}`;
  const lines = tools.map(({ name, description, inputSchema }) => {
    const first = description?.trim().split('\n')[0] ?? '';
    return `  ${plain(name)}${argumentsOf(inputSchema)}${first === '' ? '' : `\n      ${plain(first)}`}`;
  });
  return `${plain(who)}, ${era} ${revision}: ${tools.length === 1 ? '1 tool' : `${tools.length} tools`}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** A result: texts as they are, other content as JSON, a line each; or all of it as JSON. */
export function printResult(result: ToolResult, json: boolean): string {
  if (json) return `${JSON.stringify(result, null, 2)}\n`;
  const { content = [], structuredContent } = result;
  const blocks = content.map(printBlock);
  if (blocks.length === 0 && structuredContent !== undefined) blocks.push(JSON.stringify(structuredContent, null, 2));
  return blocks.map((block) => (block.endsWith('\n') ? block : `${block}\n`)).join('');
}

/** One line for standard error. */
export function progressLine({ progress, total, message }: Progress): string {
  return `[${progress}${total === undefined ? '' : `/${total}`}]${message === undefined ? '' : ` ${plain(message)}`}\n`;
}

function printBlock(block: ContentBlock): string {
  return block.type === 'text' ? block.text : JSON.stringify(block);
}

/** ` a, b, [c]`: optional ones in brackets. */
function argumentsOf(schema: unknown): string {
  const { properties, required } = (schema ?? {}) as { readonly properties?: unknown; readonly required?: unknown };
  if (typeof properties !== 'object' || properties === null) return '';
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.keys(properties).map((name) => (needed.has(name) ? plain(name) : `[${plain(name)}]`));
  return names.length === 0 ? '' : `  ${names.join(', ')}`;
}

/** A server's words on one line, without what could drive a terminal. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}
