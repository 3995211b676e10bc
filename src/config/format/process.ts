/** Why a text cannot be handed to a new process as its command, folder, argument or variable. */
export function whyNotProcessText(text: string): string | undefined {
  return text.includes('\0') ? 'must not contain NUL' : undefined;
}

/** Why a text cannot be the name of an environment variable. */
export function whyNotVariableName(name: string): string | undefined {
  return /^[^=\0]{1,256}$/.test(name) ? undefined : 'is not the name of an environment variable: 1 to 256 characters, no = and no NUL';
}
