/** One instruction of a Dockerfile. */
export interface Instruction {
  /** Upper case. */
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

/** One build stage: what stands between two FROM lines. */
export interface Stage {
  readonly name: string;
  /** The image or the stage that it starts from, build arguments filled in. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Reads a Dockerfile into its build stages. Comments, continued lines and global ARG defaults are understood; heredocs are not. */
export function parseDockerfile(text: string): { readonly arguments: ReadonlyMap<string, string>; readonly stages: readonly Stage[] } {
  const given = new Map<string, string>();
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    const stage = stages.at(-1);
    if (instruction.name === 'FROM') {
      const [, base = '', name = ''] = /^(\S+)\s+AS\s+(\S+)$/i.exec(instruction.text) ?? [];
      if (name === '') throw new Error(`line ${instruction.line}: a stage without a name`);
      const filled = base.replace(/\$\{(\w+)\}/g, (_, key: string) => given.get(key) ?? `\${${key}}`);
      stages.push({ name, base: filled, instructions: [] });
    } else if (stage !== undefined) stage.instructions.push(instruction);
    else if (instruction.name === 'ARG') {
      const [key = '', value = ''] = instruction.text.split(/=(.*)/s);
      given.set(key, value);
    } else throw new Error(`line ${instruction.line}: ${instruction.name} before the first FROM`);
  }
  return { arguments: given, stages };
}

function instructionsOf(text: string): readonly Instruction[] {
  const instructions: Instruction[] = [];
  let open = '';
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    open += line.endsWith('\\') ? `${line.slice(0, -1).trim()} ` : line;
    if (line.endsWith('\\')) continue;
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(open) ?? [];
    instructions.push({ name: name.toUpperCase(), text: rest, line: index + 1 });
    open = '';
  }
  return instructions;
}
