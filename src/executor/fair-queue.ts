/**
 * A bounded queue that serves its shares in turn, each in order of arrival. When it is full, a newcomer takes the place of the newest
 * entry of the longest line if that line is longer than the newcomer's own would be: no caller can fill the queue against the
 * others. A line may be held: it keeps its places and has no turn. Every operation takes constant time; nothing is kept of a fairness_key that does not wait.
 */
export class FairQueue<T> {
  readonly #max: number;
  readonly #lines = new Map<string, Line<T>>();
  /** Lines in the order in which they are served. */
  readonly #turns = new LinkedList<Line<T>>();
  /** Lines that go before those, until they were served once. */
  readonly #first = new LinkedList<Line<T>>();
  #firstInARow = 0;
  /** Lines by their length. */
  readonly #byLength: LinkedList<Line<T>>[] = [];
  #longest = 0;
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Undefined: refused. `displace` gets the entry that had to leave, if one had to. `begin` counts if the fairness_key did not wait. */
  push(fairness_key: string, value: T, displace: (value: T) => void, begin: LineBegin = {}): QueuePlace<T> | undefined {
    let line = this.#lines.get(fairness_key);
    if (this.#size >= this.#max) {
      if ((line?.length ?? 0) + 1 >= this.#longest) return undefined;
      const victim = this.#byLength[this.#longest]?.first?.places.last as QueuePlace<T>;
      this.remove(victim);
      displace(victim.value);
      line = this.#lines.get(fairness_key);
    }
    if (line === undefined) {
      line = new Line(fairness_key);
      this.#lines.set(fairness_key, line);
      line.held = begin.held === true;
      if (!line.held) (begin.first === true ? this.#first : this.#turns).push(line.turn);
    }
    const place = new QueuePlace(value, line);
    line.places.push(place.link);
    this.#resize(line, 1);
    return place;
  }

  /** The next in turn. */
  take(): T | undefined {
    const line = this.#next();
    const place = line?.places.first;
    if (line === undefined || place === undefined) return undefined;
    this.remove(place);
    if (line.length > 0) {
      line.turn.unlink();
      this.#turns.push(line.turn);
    }
    return place.value;
  }

  /** Takes the turn of a fairness_key that waits, or gives it one at the end. */
  hold(fairness_key: string, held: boolean): void {
    const line = this.#lines.get(fairness_key);
    if (line === undefined || line.held === held) return;
    line.held = held;
    if (held) line.turn.unlink();
    else this.#turns.push(line.turn);
  }

  /** `place` must be waiting here. */
  remove(place: QueuePlace<T>): void {
    place.link.unlink();
    this.#resize(place.line, -1);
    if (place.line.length > 0) return;
    place.line.turn.unlink();
    this.#lines.delete(place.line.fairness_key);
  }

  #next(): Line<T> | undefined {
    const first = this.#first.first;
    // A stream of newcomers must not keep those out who have waited longer.
    const line = first !== undefined && (this.#firstInARow < FIRST_IN_A_ROW || this.#turns.empty) ? first : this.#turns.first;
    this.#firstInARow = line === first ? this.#firstInARow + 1 : 0;
    return line;
  }

  #resize(line: Line<T>, by: 1 | -1): void {
    this.#size += by;
    line.length += by;
    line.rank.unlink();
    if (line.length > 0) {
      let rank = this.#byLength[line.length];
      if (rank === undefined) {
        rank = new LinkedList();
        this.#byLength[line.length] = rank;
      }
      rank.push(line.rank);
    }
    if (line.length > this.#longest) this.#longest = line.length;
    else if (by < 0 && this.#byLength[this.#longest]?.empty === true) this.#longest -= 1;
  }
}

/** How the line of a fairness_key begins: before those that have been served already, or without a turn. */
export interface LineBegin {
  readonly first?: boolean;
  readonly held?: boolean;
}

/** Newcomers that are served one after another while others wait. */
const FIRST_IN_A_ROW = 8;

/** Where an entry waits. */
export class QueuePlace<T> {
  readonly value: T;
  readonly line: Line<T>;
  readonly link: ListNode<QueuePlace<T>> = new ListNode<QueuePlace<T>>(this);

  constructor(value: T, line: Line<T>) {
    this.value = value;
    this.line = line;
  }
}

class Line<T> {
  readonly fairness_key: string;
  readonly places = new LinkedList<QueuePlace<T>>();
  readonly turn: ListNode<Line<T>> = new ListNode<Line<T>>(this);
  readonly rank: ListNode<Line<T>> = new ListNode<Line<T>>(this);
  length = 0;
  held = false;

  constructor(fairness_key: string) {
    this.fairness_key = fairness_key;
  }
}

/** One place in a chain. It leaves by itself, at once, whichever chain it is in. */
export class ListNode<T> {
  readonly value: T;
  before: ListNode<T> = this;
  after: ListNode<T> = this;

  constructor(value: T) {
    this.value = value;
  }

  unlink(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

/** A list that links join at the end. */
export class LinkedList<T> {
  readonly #end = new ListNode<T | undefined>(undefined);

  get first(): T | undefined {
    return this.#end.after.value;
  }

  get last(): T | undefined {
    return this.#end.before.value;
  }

  get empty(): boolean {
    return this.#end.after === this.#end;
  }

  /** `link` must be in no chain. */
  push(link: ListNode<T>): void {
    const end = this.#end as ListNode<T>;
    link.before = end.before;
    link.after = end;
    end.before.after = link;
    end.before = link;
  }
}
