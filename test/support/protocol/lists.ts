import type { Json, ProtocolGateway, SendOptions } from './gateway.js';

/** The lists of revision 2026-07-28: the method, and the member of its result. */
export const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** A request of this caller. */
export const as = (key: 'ada' | 'bob'): SendOptions => ({ path: '/guarded', headers: { 'x-api-key': key } });

/** Every page of a list. */
export async function pages(gateway: ProtocolGateway, method: string, options: SendOptions = {}): Promise<readonly Json[]> {
  const all: Json[] = [];
  let cursor: string | undefined;
  do {
    const { result } = (await gateway.ask(method, cursor === undefined ? {} : { cursor }, options)).message;
    all.push(result);
    cursor = result.nextCursor;
  } while (cursor !== undefined && all.length < 20);
  return all;
}

/** The names on all pages of a list. */
export async function names(
  gateway: ProtocolGateway,
  method: string,
  member: string,
  options: SendOptions = {},
): Promise<readonly string[]> {
  return (await pages(gateway, method, options)).flatMap((result) => result[member]).map(({ name }) => name);
}
