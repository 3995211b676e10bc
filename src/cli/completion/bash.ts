import type { CompletedOption, CompletedProgram } from './words.js';

/** The script for bash, from 3.2 on. Where a file may stand it completes nothing, and bash's own completion of file names takes over. */
export function toBash({ name, options, commands }: CompletedProgram): string {
  const cases = commands.map(
    ({ name: command, options: own, argument }) => `    ${command})
      case $prev in
${valueCases(own)}      esac
      options='${flags(own)}'
      words='${argument.kind === 'choice' ? argument.choices.join(' ') : ''}'
      ;;
`,
  );
  return `# Completion of ${name} for bash: source <(${name} completion bash)
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= options= words= i
  # bash takes --option=value apart.
  if [ "$cur" = = ]; then cur=
  elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --) return ;;
      -*) ;;
      *) [ -n "$command" ] || command=\${COMP_WORDS[i]} ;;
    esac
  done
  case $command in
    '')
      options='${flags(options)}'
      words='${commands.map((command) => command.name).join(' ')}'
      ;;
${cases.join('')}  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$options $words" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -o bashdefault -o default -F _${name} ${name}
`;
}

function flags(options: readonly CompletedOption[]): string {
  return options.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short])).join(' ');
}

/** An option that waits for its value: choices are listed, anything else is left to bash. */
function valueCases(options: readonly CompletedOption[]): string {
  return options
    .filter(({ value }) => value.kind !== 'none')
    .map(({ long, short, value }) => {
      const pattern = short === undefined ? long : `${long}|${short}`;
      const reply = value.kind === 'choice' ? `COMPREPLY=($(compgen -W '${value.choices.join(' ')}' -- "$cur")); ` : '';
      return `        ${pattern}) ${reply}return ;;\n`;
    })
    .join('');
}
