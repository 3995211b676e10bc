/** A text that the config takes as it is. */
export function literal(text: string): string {
  return text.replaceAll('${', '$${');
}

/**
 * A text of a client's file with its references in the config's form: `${env:NAME}` and `${input:id}` become `${NAME}` and `${ID}`,
 * `${userHome}` becomes `${HOME}`; `${NAME}` and `${NAME:-default}` stay. Any other `${` is text, with a note.
 */
export function fromForeign(text: string, note: (what: string) => void): string {
  return text.replace(/\$\{([^}]*)(\}?)/g, (whole, inner: string, end: string) => {
    if (end === '}' && /^[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?$/.test(inner) && inner !== 'userHome' && !inner.startsWith('workspaceFolder'))
      return whole;
    const [kind = '', name = ''] = inner.split(':', 2);
    if (end === '}' && kind === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `\${${name}}`;
    if (end === '}' && kind === 'input' && name !== '') {
      const variable = name
        .toUpperCase()
        .replace(/[^A-Z0-9]+/g, '_')
        .replace(/^(?=[0-9])/, '_');
      note(`\${input:${name}} is read from the environment variable ${variable}`);
      return `\${${variable}}`;
    }
    if (end === '}' && inner === 'userHome') return '${HOME}';
    note(`${whole} means nothing here and stays as it is written`);
    return `$${whole}`;
  });
}
