/** All that a command sees of the process it runs in. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative file names on the command line start at. */
  readonly cwd: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}
