import type { Child } from '../parts/child.js';
import type { Issued } from '../parts/issuer.js';

/** What every row is given. */
export interface Ground {
  readonly upstream_port: number;
  readonly issued: Issued;
  /** A folder of its own for files. */
  folder(name: string): string;
}

/** A proxy that runs. */
export interface Contender {
  readonly port: number;
  readonly child: Child;
}

/** One line of the table. */
export interface Row {
  readonly name: string;
  /** It must refuse a call without a token: that is tried before it is measured. */
  readonly guarded: boolean;
  /** It answers itself: its first answer is what every further one must be. Otherwise the answer must be the upstream's. */
  readonly own_answer?: boolean;
  /** What every answer must be, where that is known and not the upstream's. */
  readonly answer?: string;
  /** @throws Missing when the tool is not on this machine. */
  open(ground: Ground): Promise<Contender>;
}
