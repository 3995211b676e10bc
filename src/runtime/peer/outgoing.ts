import { type Edit, isObjectAt, type Member, membersOf, splice, toLine } from '../../wire/edit.js';
import { skipSpace } from '../../wire/skip.js';
import { toFolded, toRaw } from '../../wire/text.js';
/** The member of `params._meta` that tells a server who calls. Only the gateway sets it; a client's own is always taken out. */
export const IDENTITY_KEY = 'portcullis/identity';

/** What changes in a client's message on its way to the peer. */
export interface Outgoing {
  /** The id that the peer sees; it is the progress token too, where the client sent one. */
  readonly id?: number | undefined;
  /** Raw JSON text for `params.requestId`: the peer's id of the cancelled request. */
  readonly request_id?: string | undefined;
  /** True for keys of `params._meta` that do not go on. */
  readonly drops?: ((key: string) => boolean) | undefined;
  /** JSON text of who calls. */
  readonly identity?: string | undefined;
}

/**
 * A judged message as one line for the peer. Only ids, the progress token and members of `_meta` change; numbers, unknown fields
 * and everything else go on as they were sent.
 */
export function toPeer(body: Uint8Array, out: Outgoing): Uint8Array {
  const edits: Edit[] = [];
  const start = skipSpace(body, 0);
  let has_params = false;
  for (const member of membersOf(body, start)) {
    if (member.key === 'id' && out.id !== undefined) edits.push(replaced(member, String(out.id)));
    if (member.key !== 'params') continue;
    has_params = true;
    if (isObjectAt(body, member.value)) editParams(body, member.value, out, edits);
    else if (out.identity !== undefined) edits.push(replaced(member, `{"_meta":${identityMeta(out.identity)}}`));
  }
  if (!has_params && out.identity !== undefined)
    edits.unshift({ from: start + 1, to: start + 1, text: `"params":{"_meta":${identityMeta(out.identity)}},` });
  return toLine(splice(body, edits));
}

function editParams(body: Uint8Array, at: number, out: Outgoing, edits: Edit[]): void {
  const members = membersOf(body, at);
  const meta = members.find(({ key }) => key === '_meta');
  if (meta === undefined && out.identity !== undefined) {
    const text = `"_meta":${identityMeta(out.identity)}${members.length === 0 ? '' : ','}`;
    edits.push({ from: at + 1, to: at + 1, text });
  }
  for (const member of members) {
    if (member.key === 'requestId' && out.request_id !== undefined) edits.push(replaced(member, out.request_id));
    if (member !== meta) continue;
    const text = metaText(body, member.value, out);
    if (text !== undefined) edits.push(replaced(member, text));
  }
}

/** The changed `_meta`; undefined when it stays as it is. */
function metaText(body: Uint8Array, at: number, out: Outgoing): string | undefined {
  if (!isObjectAt(body, at)) return out.identity === undefined ? undefined : identityMeta(out.identity);
  const kept: string[] = [];
  let changed = out.identity !== undefined;
  for (const { key, from, value, to } of membersOf(body, at)) {
    const token = key === 'progressToken' && out.id !== undefined;
    if (isIdentity(key) || out.drops?.(key) === true || (token && body[value] === NULL)) changed = true;
    else if (token) {
      changed = true;
      kept.push(`"progressToken":${out.id}`);
    } else kept.push(toRaw(body, from, to));
  }
  if (out.identity !== undefined) kept.push(`"${IDENTITY_KEY}":${out.identity}`);
  return changed ? `{${kept.join(',')}}` : undefined;
}

const NULL = 0x6e;
const FOLDED = toFolded(IDENTITY_KEY);

const isIdentity = (key: string): boolean => key.length >= IDENTITY_KEY.length && toFolded(key) === FOLDED;

const identityMeta = (identity: string): string => `{"${IDENTITY_KEY}":${identity}}`;

function replaced({ value, to }: Member, text: string): Edit {
  return { from: value, to, text };
}
