/**
 * The values of the best of all ways to match, found by trying every one: the shortest values for what stands left of the reserved
 * variable, from the left; the shortest for what stands right of it, from the right; without one, the shortest from the left.
 */
export function matchSlowly(template: string, uri: string): Record<string, string> | undefined {
  const parts = template.split(/\{([+#]?)(\w+)\}/);
  const literals: string[] = [parts[0] ?? ''];
  const variables: { readonly name: string; readonly reserved: boolean }[] = [];
  for (let n = 1; n < parts.length; n += 3) {
    if (parts[n] === '#') literals[literals.length - 1] += '#';
    variables.push({ name: parts[n + 1] ?? '', reserved: parts[n] !== '' });
    literals.push(parts[n + 2] ?? '');
  }
  const ways = everyWay(uri, literals, variables);
  const reserved = variables.findIndex((variable) => variable.reserved);
  const order = reserved < 0 ? variables.map((_, n) => n) : [...variables.keys()].filter((n) => n < reserved);
  const fromRight = reserved < 0 ? [] : [...variables.keys()].filter((n) => n > reserved).reverse();
  ways.sort((a, b) => {
    for (const n of [...order, ...fromRight]) if (a[n]?.length !== b[n]?.length) return (a[n]?.length ?? 0) - (b[n]?.length ?? 0);
    return 0;
  });
  const best = ways[0];
  if (best === undefined) return undefined;
  return Object.fromEntries(
    variables.map(({ name, reserved: raw }, n) => [name, raw ? (best[n] ?? '') : decodeURIComponent(best[n] ?? '')]),
  );
}

function everyWay(uri: string, literals: readonly string[], variables: readonly { readonly reserved: boolean }[]): string[][] {
  const [literal = '', ...more] = literals;
  if (!uri.startsWith(literal)) return [];
  const rest = uri.slice(literal.length);
  const [variable, ...others] = variables;
  if (variable === undefined) return rest === '' ? [[]] : [];
  const ways: string[][] = [];
  for (let length = 1; length <= rest.length; length++) {
    const value = rest.slice(0, length);
    if (!(variable.reserved ? /^(?:[^%\0-\x1f\x7f]|%[0-9A-Fa-f]{2})+$/ : /^(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+$/).test(value)) continue;
    if (!variable.reserved && !isDecodable(value)) continue;
    for (const way of everyWay(rest.slice(length), more, others)) ways.push([value, ...way]);
  }
  return ways;
}

function isDecodable(value: string): boolean {
  try {
    return !decodeURIComponent(value).includes('\0');
  } catch {
    return false;
  }
}
