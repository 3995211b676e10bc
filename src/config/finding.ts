import type { Path } from './path.js';

/** Something to tell the operator about one place of a config, before it has a file and a line. */
export interface Finding {
  readonly path: Path;
  /** What the caret points at: the key (it should not be there, or something is missing in it) or its value. */
  readonly part: 'key' | 'value';
  readonly message: string;
  /** A key too many, or a value of the right type: rules can still look at what stands there. */
  readonly mild?: true;
}

export function atKey(path: Path, message: string): Finding {
  return { path, part: 'key', message };
}

export function atValue(path: Path, message: string): Finding {
  return { path, part: 'value', message };
}
