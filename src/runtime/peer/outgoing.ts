import { cutting, type Edit, isObjectAt, type Member, membersOf, splice, toLine } from '../../wire/edit.js';
import { skipSpace } from '../../wire/skip.js';
import { toFolded, toRaw } from '../../wire/text.js';
/** The member of `params._meta` that tells a server who calls. Only the gateway sets it; a client's own is always taken out. */
export const IDENTITY_KEY = 'portcullis/identity';

/** Metadata that only modern requests have: a legacy server does not know it, and what a legacy client writes under such a key is not believed. */
export const isModernKey = (key: string): boolean => key.startsWith('io.modelcontextprotocol/');

/** What changes in a client's message on its way to the peer. */
export interface Outgoing {
  /** The id that the peer sees; it is the progress token too, where the client sent one. */
  readonly id?: number | undefined;
  /** Raw JSON text for `params.requestId`: the peer's id of the cancelled request. */
  readonly request_id?: string | undefined;
  /** True for keys of `params._meta` that do not go on. */
  readonly drops?: ((key: string) => boolean) | undefined;
  /** Members of `params` that do not go on. */
  readonly without?: ReadonlySet<string> | undefined;
  /** JSON text of who calls. */
  readonly identity?: string | undefined;
  /** Members for `params._meta`, JSON text without braces. */
  readonly meta?: string | undefined;
  /** Members for `params`, JSON text without braces. */
  readonly params?: string | undefined;
}

/**
 * A judged message as one line for the peer. Only ids, the progress token, members of `_meta` and those members of `params` that are named change;
 * numbers, unknown fields and everything else go on as they were sent.
 */
export function toPeer(body: Uint8Array, out: Outgoing): Uint8Array {
  const edits: Edit[] = [];
  const start = skipSpace(body, 0);
  const meta = joined(out.meta, out.identity === undefined ? undefined : `"${IDENTITY_KEY}":${out.identity}`);
  const added = joined(out.params, meta === undefined ? undefined : `"_meta":{${meta}}`);
  let has_params = false;
  for (const member of membersOf(body, start)) {
    if (member.key === 'id' && out.id !== undefined) edits.push(replaced(member, String(out.id)));
    if (member.key !== 'params') continue;
    has_params = true;
    if (isObjectAt(body, member.value)) editParams(body, member.value, out, meta, edits);
    else if (added !== undefined) edits.push(replaced(member, `{${added}}`));
  }
  if (!has_params && added !== undefined) edits.unshift({ from: start + 1, to: start + 1, text: `"params":{${added}},` });
  return toLine(splice(body, edits));
}

function editParams(body: Uint8Array, at: number, out: Outgoing, meta: string | undefined, edits: Edit[]): void {
  const members = membersOf(body, at);
  const goes = ({ key }: Member): boolean => out.without?.has(key) === true;
  const has_meta = members.some(({ key }) => key === '_meta');
  const added = joined(out.params, has_meta || meta === undefined ? undefined : `"_meta":{${meta}}`);
  if (added !== undefined) edits.push({ from: at + 1, to: at + 1, text: `${added}${members.every(goes) ? '' : ','}` });
  const changed: Edit[] = out.without === undefined ? [] : [...cutting(members, goes)];
  for (const member of members) {
    if (member.key === 'requestId' && out.request_id !== undefined) changed.push(replaced(member, out.request_id));
    const text = member.key === '_meta' ? metaText(body, member.value, out, meta) : undefined;
    if (text !== undefined) changed.push(replaced(member, text));
  }
  edits.push(...changed.sort((a, b) => a.from - b.from));
}

/** The changed `_meta`; undefined when it stays as it is. */
function metaText(body: Uint8Array, at: number, out: Outgoing, meta: string | undefined): string | undefined {
  if (!isObjectAt(body, at)) return meta === undefined ? undefined : `{${meta}}`;
  const kept: string[] = [];
  let changed = meta !== undefined;
  for (const { key, from, value, to } of membersOf(body, at)) {
    const token = key === 'progressToken' && out.id !== undefined;
    if (isIdentity(key) || out.drops?.(key) === true || (token && body[value] === NULL)) changed = true;
    else if (token) {
      changed = true;
      kept.push(`"progressToken":${out.id}`);
    } else kept.push(toRaw(body, from, to));
  }
  if (meta !== undefined) kept.push(meta);
  return changed ? `{${kept.join(',')}}` : undefined;
}

const NULL = 0x6e;
const FOLDED = toFolded(IDENTITY_KEY);

const isIdentity = (key: string): boolean => key.length >= IDENTITY_KEY.length && toFolded(key) === FOLDED;

function joined(...parts: readonly (string | undefined)[]): string | undefined {
  const given = parts.filter((part) => part !== undefined && part !== '');
  return given.length === 0 ? undefined : given.join(',');
}

function replaced({ value, to }: Member, text: string): Edit {
  return { from: value, to, text };
}
