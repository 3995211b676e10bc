import type { ErrorObject } from 'ajv';
import { didYouMean } from '../errors/did-you-mean.js';
import { atKey, atValue, type Finding } from './finding.js';
import { FORMATS } from './format/formats.js';
import type { Path } from './path.js';
import { homesOf } from './schema/homes.js';
import { RUNTIME_KINDS } from './schema/runtimes.js';

interface Parent {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What one fault of ajv means, in the operator's words: what was expected there and what to do. Nothing, if another fault says it better. */
export function explainFault(fault: ErrorObject, path: Path): readonly Finding[] {
  const parent = (fault.parentSchema ?? {}) as Parent;
  const params = fault.params as Readonly<Record<string, unknown>>;
  switch (fault.keyword) {
    case 'additionalProperties':
      return [unknownKey([...path, String(params.additionalProperty)], parent)];
    case 'required':
      return [missingKey(path, String(params.missingProperty), parent)];
    case 'discriminator':
      return params.tagValue === undefined ? [] : [atValue([...path, 'kind'], unknownKind(params.tagValue))];
    case 'propertyNames':
      return [];
    case 'type':
      return [atValue(path, `expected ${expected(params.type, parent)}, found ${found(fault.data)}`)];
    case 'minimum':
    case 'maximum':
      return [mild(atValue(path, `expected ${expected('integer', parent)}`))];
    case 'enum':
      return [
        mild(
          atValue(
            path,
            `expected one of ${words(params.allowedValues)}${didYouMean(String(fault.data), params.allowedValues as string[])}`,
          ),
        ),
      ];
    case 'format':
      return [mild(wrongFormat(fault, path, String(params.format)))];
    default:
      return [
        mild(atValue(path, sized(fault.keyword, params.limit) ?? `does not have the right form. ${parent.description ?? ''}`.trimEnd())),
      ];
  }
}

function mild(finding: Finding): Finding {
  return { ...finding, mild: true };
}

function unknownKey(path: Path, parent: Parent): Finding {
  if (parent.patternProperties !== undefined) {
    return atKey(path, 'a name begins with a letter and has at most 63 letters, digits, - and _');
  }
  return { ...atKey(path, `unknown key${whatInstead(String(path.at(-1)), Object.keys(parent.properties ?? {}))}`), mild: true };
}

function whatInstead(key: string, here: readonly string[]): string {
  const near = didYouMean(key, here);
  if (near !== '') return near;
  const homes = homesOf(key);
  return homes.length > 0
    ? ` here; it belongs in ${homes.join(' or ')}`
    : `; the keys here are ${words(here.filter((known) => known !== '$schema'))}`;
}

function missingKey(path: Path, key: string, parent: Parent): Finding {
  const schema = parent.properties?.[key] as { readonly description?: string } | undefined;
  const hint = schema?.description ?? (key === 'kind' ? `One of ${words(Object.keys(RUNTIME_KINDS))}.` : '');
  return atKey([...path, key], `is required. ${hint}`.trimEnd());
}

function unknownKind(kind: unknown): string {
  const kinds = Object.keys(RUNTIME_KINDS);
  return `unknown kind; the kinds are ${words(kinds)}${didYouMean(String(kind), kinds)}`;
}

function wrongFormat(fault: ErrorObject, path: Path, format: string): Finding {
  const name = fault.propertyName;
  const message = FORMATS[format]?.(name ?? String(fault.data)) ?? `is not a ${format}`;
  return name === undefined ? atValue(path, message) : atKey([...path, name], message);
}

function expected(type: unknown, parent: Parent): string {
  switch (type) {
    case 'integer':
      return `a whole number from ${parent.minimum} to ${parent.maximum}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'a text';
    case 'array':
      return 'a list';
    default:
      return 'a mapping';
  }
}

function found(value: unknown): string {
  if (value === null) return 'nothing: give a value or remove the key';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'a number; put it in quotes to make it a text' : 'a number with a fraction';
    case 'string':
      return 'a text';
    case 'boolean':
      return `${value}`;
    default:
      return 'a mapping';
  }
}

function sized(keyword: string, limit: unknown): string | undefined {
  switch (keyword) {
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `is longer than ${limit} characters`;
    case 'minItems':
      return `needs at least ${limit} entry`;
    case 'maxItems':
    case 'maxProperties':
      return `has more than ${limit} entries`;
    default:
      return undefined;
  }
}

function words(values: unknown): string {
  return (values as readonly unknown[]).join(', ');
}
