import type { CompletedOption, CompletedProgram, CompletedValue } from './words.js';

/** The script for zsh: sourced after compinit, or put as `_portcullis` into a folder of `fpath`. */
export function toZsh({ name, options, commands }: CompletedProgram): string {
  const cases = commands.map(
    (command) => `        ${command.name})
          _arguments -S -s ${[...command.options.map(toSpec), ...argumentSpec(command.argument)].join(' ')}
          ;;
`,
  );
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh)
_${name}() {
  local context state state_descr line curcontext=$curcontext
  typeset -A opt_args
  _arguments -C ${options.map(toSpec).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands
      commands=(
${commands.map((command) => `        ${quoted(`${command.name}:${command.description.replaceAll(':', '\\:')}`)}\n`).join('')}      )
      _describe command commands
      ;;
    rest)
      case $words[1] in
${cases.join('')}      esac
      ;;
  esac
}
if [ "$funcstack[1]" = _${name} ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

/** One option as `_arguments` reads it; both spellings exclude each other. */
function toSpec({ long, short, description, value, repeats }: CompletedOption): string {
  const text = `[${description.replaceAll(/[[\]:\\]/g, '\\$&')}]${valueSpec(value)}`;
  const star = repeats ? '*' : '';
  if (short === undefined) return quoted(`${star}${long}${value.kind === 'none' ? '' : '='}${text}`);
  const both = repeats ? '' : quoted(`(${short} ${long})`);
  return `${both}${star === '' ? '' : quoted(star)}{${short},${long}${value.kind === 'none' ? '' : '='}}${quoted(text)}`;
}

function argumentSpec(value: CompletedValue): readonly string[] {
  return value.kind === 'none' ? [] : [quoted(`*${valueSpec(value)}`)];
}

function valueSpec(value: CompletedValue): string {
  switch (value.kind) {
    case 'none':
      return '';
    case 'text':
      return ':value: ';
    case 'file':
      return ':file:_files';
    case 'choice':
      return `:value:(${value.choices.join(' ')})`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
