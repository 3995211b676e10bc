/** One place in a chain. It leaves by itself, at once, whichever chain it is in. */
export class Link<T> {
  readonly value: T;
  before: Link<T> = this;
  after: Link<T> = this;

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
export class Chain<T> {
  readonly #end = new Link<T | undefined>(undefined);

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
  push(link: Link<T>): void {
    const end = this.#end as Link<T>;
    link.before = end.before;
    link.after = end;
    end.before.after = link;
    end.before = link;
  }
}
