import type { Command, Option } from 'commander';

/** What the value of an option or argument is, as far as a shell can help with it. */
export type CompletedValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'text' }
  | { readonly kind: 'file' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

export interface CompletedOption {
  /** `--config`. */
  readonly long: string;
  /** `-c`; undefined without one. */
  readonly short: string | undefined;
  readonly description: string;
  readonly value: CompletedValue;
  /** True when it may be given several times, as its description says. */
  readonly repeats: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** What every argument may be; `none`: the command takes no argument. */
  readonly argument: CompletedValue;
}

export interface CompletedProgram {
  readonly name: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly CompletedCommand[];
}

/** The words that a command line of this program can have, in the order of its help. */
export function completedProgram(program: Command): CompletedProgram {
  const help = program.createHelp();
  const options = (command: Command): readonly CompletedOption[] => help.visibleOptions(command).flatMap(toOption);
  return {
    name: program.name(),
    options: options(program),
    commands: help.visibleCommands(program).map((command) => ({
      name: command.name(),
      description: oneLine(command.description()),
      options: command.name() === 'help' ? [] : options(command),
      argument: argumentOf(command, program),
    })),
  };
}

function argumentOf(command: Command, program: Command): CompletedValue {
  if (command.name() === 'help') return { kind: 'choice', choices: program.commands.map((other) => other.name()) };
  const [argument] = command.registeredArguments;
  if (argument === undefined) return { kind: 'none' };
  if (argument.argChoices !== undefined) return { kind: 'choice', choices: argument.argChoices };
  return { kind: 'file' };
}

function toOption(option: Option): readonly CompletedOption[] {
  if (option.long === undefined || option.long === null) return [];
  const { long, short, description } = option;
  return [
    {
      long,
      short: short ?? undefined,
      description: oneLine(description),
      value: toValue(option),
      repeats: description.includes('repeat for several'),
    },
  ];
}

function toValue(option: Option): CompletedValue {
  if (!option.required && !option.optional) return { kind: 'none' };
  if (option.argChoices !== undefined) return { kind: 'choice', choices: option.argChoices };
  return /<(?:[a-z]+-)?(?:file|folder)>/.test(option.flags) ? { kind: 'file' } : { kind: 'text' };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
