import { InvalidArgumentError } from 'commander';
import { trimOws } from '../wire/field.js';

export function toField(text: string, before: readonly (readonly [string, string])[] = []): readonly (readonly [string, string])[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('write a field as name:value.');
  return [...before, [trimOws(text.slice(0, colon)), trimOws(text.slice(colon + 1))]];
}
