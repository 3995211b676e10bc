/**
 * The words of a command line: separated by blanks, quoted with ' or ", a backslash takes the next character as it is except
 * inside '. Nothing is expanded. Undefined for an unclosed quote or an empty line.
 */
export function splitCommandLine(line: string): readonly [string, ...string[]] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string;
    if (quote !== '' && character === quote) quote = '';
    else if (character === '\\' && quote !== "'" && i + 1 < line.length) word = (word ?? '') + line[++i];
    else if (quote !== '') word = (word ?? '') + character;
    else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (!/\s/.test(character)) word = (word ?? '') + character;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  const [first, ...rest] = words;
  return quote !== '' || first === undefined || first === '' ? undefined : [first, ...rest];
}
