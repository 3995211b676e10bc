import type { Tool } from '../../client.js';
import { nearest } from '../../errors/did-you-mean.js';
import { CliExit, EXIT, usageError } from '../exit.js';
import { plain } from './printed.js';

/** The arguments of a call: a JSON object. What is none ends the command, with the place where it goes wrong. */
export function readArguments(json: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw usageError(`the arguments are not JSON: ${where(json, (error as Error).message)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  throw new CliExit(
    EXIT.usage,
    `error: the arguments must be a JSON object such as {"name":"value"}, not ${Array.isArray(value) ? 'a list' : typeof value}`,
  );
}

/** The tool of that name. None: the command ends, and names the nearest. */
export function findTool(name: string, tools: readonly Tool[]): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => plain(tool.name));
  const near = nearest(name, names);
  const shown = names.slice(0, 12).join(', ');
  const there =
    names.length === 0 ? 'the server lists no tools' : `there is ${shown}${names.length > 12 ? ` and ${names.length - 12} more` : ''}`;
  throw new CliExit(
    EXIT.usage,
    `error: the server lists no tool ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`} (${there})`,
  );
}

/** The line that is wrong, with a caret under the place. */
function where(json: string, message: string): string {
  const at = Number(/position (\d+)/.exec(message)?.[1] ?? json.length);
  const before = json.slice(0, at);
  const line = before.split('\n').length;
  const column = at - (before.lastIndexOf('\n') + 1);
  const text = json.split('\n')[line - 1] ?? '';
  const from = Math.max(0, column - 60);
  const why = message.replace(/ in JSON.*$/s, '').replace(/^Unexpected end of JSON input$/, 'it ends too early');
  return `${why}, at ${line}:${column + 1}\n  ${text.slice(from, from + 100)}\n  ${' '.repeat(column - from)}^`;
}
