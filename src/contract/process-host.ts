/** What a part that runs child processes needs of the process it runs in. Node's `process` is one. */
export interface ProcessHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program that runs this process. With it, children are ended even when this process is killed; undefined: they are not. */
  readonly execPath?: string | undefined;
  /** Sends a signal; a negative `pid` is a process group. Signal 0 only tests. Throws when the process does not exist. */
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean;
}
