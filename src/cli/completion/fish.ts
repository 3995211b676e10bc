import type { CompletedOption, CompletedProgram, CompletedValue } from './words.js';

/** The script for fish, from 3.0 on. */
export function toFish({ name, options, commands }: CompletedProgram): string {
  const lines = [`# Completion of ${name} for fish: ${name} completion fish | source`, `complete -c ${name} -e`];
  for (const option of options) lines.push(`complete -c ${name} -n __fish_use_subcommand -f ${toFlags(option)}`);
  for (const command of commands) {
    lines.push(`complete -c ${name} -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(command.description)}`);
    const inside = `complete -c ${name} -n ${quoted(`__fish_seen_subcommand_from ${command.name}`)}`;
    for (const option of command.options) lines.push(`${inside} ${toFlags(option)}`);
    lines.push(...argumentLines(inside, command.argument));
  }
  return `${lines.join('\n')}\n`;
}

function toFlags({ long, short, description, value }: CompletedOption): string {
  const spelt = `${short === undefined ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)} -d ${quoted(description)}`;
  switch (value.kind) {
    case 'none':
      return spelt;
    case 'text':
      return `${spelt} -x`;
    case 'file':
      return `${spelt} -r -F`;
    case 'choice':
      return `${spelt} -x -a ${quoted(value.choices.join(' '))}`;
  }
}

function argumentLines(inside: string, value: CompletedValue): readonly string[] {
  if (value.kind === 'file') return [];
  return [value.kind === 'choice' ? `${inside} -f -a ${quoted(value.choices.join(' '))}` : `${inside} -f`];
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
