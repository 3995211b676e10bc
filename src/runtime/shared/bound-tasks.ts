import type { Call } from '../../contract/runtime.js';
import { nameField } from '../../dialect/methods.js';
import { GatewayError } from '../../errors/error.js';
import { isObjectAt, type Member, memberAt, memberOf, membersOf, splice } from '../../wire/edit.js';
import { encodeFieldText } from '../../wire/field.js';
import { toEcho, toFolded, toText } from '../../wire/text.js';
import { bindingOf } from './session-seal.js';
import type { TaskSeal } from './task-seal.js';

/** What the client calls each task that its request is about, by the upstream's id. */
export type TaskNames = ReadonlyMap<string, string>;

/** A request about tasks, as the upstream gets it. */
export interface TaskRequest {
  readonly body: Buffer;
  /** Value of `Mcp-Name`; undefined: as the client sent it. */
  readonly name: string | undefined;
  readonly names: TaskNames;
}

/**
 * Binds the tasks of modern calls to the route and to the caller whom a gate identified (MCP extension io.modelcontextprotocol/tasks): the server
 * behind sees one credential for all callers and its ids are bearer tokens, so ids are sealed on the way out and opened on the way in. It is
 * not asked about calls of an unknown caller: those pass as they are. Ids are replaced as spans; nothing else of a message changes.
 */
export class BoundTasks {
  readonly #seal: TaskSeal;
  readonly #refused: (route: string) => void;

  /** `refused` is told the route of each id that did not open. */
  constructor(seal: TaskSeal, refused: (route: string) => void) {
    this.#seal = seal;
    this.#refused = refused;
  }

  /**
   * Undefined: the call is about no task. `tasks/get`, `tasks/update` and `tasks/cancel` with an id that does not open are refused as a server
   * refuses an unknown task, -32602; other methods of `tasks/` do not exist. A subscription loses the ids that do not open, so that they are not acknowledged.
   */
  request(call: Call): TaskRequest | GatewayError | undefined {
    const { method } = call;
    if (call.era !== 'modern') return undefined;
    if (method === 'subscriptions/listen') return this.#listen(call);
    if (!method.startsWith('tasks/')) return undefined;
    if (nameField(method) !== 'taskId') return new GatewayError('METHOD_NOT_FOUND', { detail: `Unknown method: ${toEcho(method)}` });
    const { name = '', body } = call;
    const id = this.#open(call, name);
    const at = id === undefined ? undefined : memberAt(body, 'params', 'taskId');
    if (id === undefined || at === undefined) return new GatewayError('COMPONENT_NOT_FOUND', { detail: `Unknown task: ${toEcho(name)}` });
    return { body: replaced(body, at, id), name: encodeFieldText(id), names: new Map([[id, name]]) };
  }

  /**
   * The upstream's message as the client gets it. Undefined: it must not go on, since its task has no usable id (a string of 1 to 1 024 bytes) or is
   * none that this call is about. A message that does not mention a task comes back as it is, after one search for `"taskId`.
   */
  message(call: Call, names: TaskNames | undefined, message: Uint8Array): Uint8Array | undefined {
    if (call.era !== 'modern' || !mentionsTask(message)) return message;
    const result = memberAt(message, 'result');
    if (result !== undefined && isObjectAt(message, result.value)) return this.#result(call, names, message, result);
    switch (textOf(message, memberAt(message, 'method'))) {
      case 'notifications/tasks':
        return withId(message, memberAt(message, 'params', 'taskId'), (id) => names?.get(id));
      case 'notifications/subscriptions/acknowledged':
        return acknowledged(message, names);
      default:
        return message;
    }
  }

  #listen(call: Call): TaskRequest | GatewayError | undefined {
    const { body } = call;
    const notifications = memberAt(body, 'params', 'notifications');
    if (notifications === undefined || !isObjectAt(body, notifications.value)) return undefined;
    // A parser that takes the last of two members, or ignores case, must not see ids that were not opened.
    const spelt = membersOf(body, notifications.value).filter(({ key }) => toFolded(key) === TASK_IDS_FOLDED);
    const [ids] = spelt;
    if (ids === undefined) return undefined;
    if (spelt.length > 1 || ids.key !== TASK_IDS)
      return new GatewayError('INVALID_PARAMS', { detail: 'params.notifications needs taskIds once, spelt so.' });
    const names = new Map<string, string>();
    for (const sealed of textsOf(body, ids).slice(0, MAX_IDS)) {
      const id = this.#open(call, sealed);
      if (id !== undefined) names.set(id, sealed);
    }
    return { body: replaced(body, ids, [...names.keys()]), name: undefined, names };
  }

  #open(call: Call, sealed: string): string | undefined {
    const id = this.#seal.open(sealed, bindingOf(call))?.id;
    if (id === undefined) this.#refused(call.route.path);
    return id;
  }

  #result(call: Call, names: TaskNames | undefined, message: Uint8Array, result: Member): Uint8Array | undefined {
    if (names === undefined && textOf(message, memberOf(message, result.value, 'resultType')) !== 'task') return message;
    const tool = call.method === 'tools/call' ? (call.name ?? '') : '';
    return withId(message, memberOf(message, result.value, 'taskId'), (id) =>
      names === undefined ? this.#seal.seal({ id, tool }, bindingOf(call)) : names.get(id),
    );
  }
}

const TASK_IDS = 'taskIds';
const TASK_IDS_FOLDED = toFolded(TASK_IDS);
/** Tasks of one subscription; more are not acknowledged. */
const MAX_IDS = 1024;
const NEEDLE = Buffer.from('"taskId');
const QUOTE = 0x22;

function mentionsTask(message: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(message, NEEDLE) >= 0;
}

/** The message with another id in the member `at`, or as it is without one; undefined where the id is no string or has no other. */
function withId(message: Uint8Array, at: Member | undefined, other: (id: string) => string | undefined): Uint8Array | undefined {
  if (at === undefined) return message;
  const id = textOf(message, at);
  const text = id === undefined ? undefined : other(id);
  return text === undefined ? undefined : replaced(message, at, text);
}

function acknowledged(message: Uint8Array, names: TaskNames | undefined): Uint8Array {
  const at = memberAt(message, 'params', 'notifications', TASK_IDS);
  if (at === undefined) return message;
  return replaced(
    message,
    at,
    textsOf(message, at).flatMap((id) => names?.get(id) ?? []),
  );
}

function replaced(bytes: Uint8Array, { value, to }: Member, by: string | readonly string[]): Buffer {
  const copy = splice(bytes, [{ from: value, to, text: JSON.stringify(by) }]);
  return Buffer.from(copy.buffer, copy.byteOffset, copy.length);
}

function textOf(bytes: Uint8Array, at: Member | undefined): string | undefined {
  return at === undefined || bytes[at.value] !== QUOTE ? undefined : toText(bytes, at.value + 1, at.to - 1);
}

/** The strings of an array. */
function textsOf(bytes: Uint8Array, { value, to }: Member): readonly string[] {
  const list: unknown = JSON.parse(Buffer.from(bytes.subarray(value, to)).toString());
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}
