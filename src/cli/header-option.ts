import { InvalidArgumentError } from 'commander';

export function toField(text: string, before: readonly (readonly [string, string])[] = []): readonly (readonly [string, string])[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('write a field as name:value.');
  return [...before, [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
}
