import { atKey, atValue, type Finding } from './finding.js';
import { type Path, toWhere } from './path.js';
import { resolveTemplate, type TemplateScope } from './template.js';

const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;

export interface Interpolated {
  /** A fresh copy of plain objects, lists and JSON scalars; shares nothing with the input. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** `where` of every text that holds the value of a reference: such a value is never shown. */
  readonly referenced: ReadonlySet<string>;
}

/**
 * Copies a parsed config and resolves the references in each of its texts, keys excepted. At most 64 levels and 100 000
 * values; what is not JSON (functions, cycles, `__proto__` keys) is a finding.
 */
export function interpolate(input: unknown, scope: TemplateScope): Interpolated {
  const findings: Finding[] = [];
  const referenced = new Set<string>();
  let values = 0;

  const copy = (value: unknown, path: Path): unknown => {
    values += 1;
    if (values > MAX_VALUES) return undefined;
    if (typeof value === 'string') return copyText(value, path);
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    if (path.length >= MAX_DEPTH) {
      findings.push(atKey(path, `is nested deeper than ${MAX_DEPTH} levels, or contains itself`));
      return undefined;
    }
    if (Array.isArray(value)) return value.map((item: unknown, index) => copy(item, [...path, index]));
    if (typeof value === 'object') return copyMapping(value, path);
    findings.push(atValue(path, `expected plain JSON data, found a ${typeof value}`));
    return undefined;
  };

  const copyMapping = (value: object, path: Path): unknown => {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      findings.push(atValue(path, 'expected plain JSON data, found an instance of a class'));
      return undefined;
    }
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      if (key === '__proto__') findings.push(atKey([...path, key], 'this key is never allowed'));
      else result[key] = copy(item, [...path, key]);
    }
    return result;
  };

  const copyText = (text: string, path: Path): string => {
    if (!text.includes('${')) return text;
    const resolved = resolveTemplate(text, scope);
    if (!resolved.ok) {
      findings.push(atValue(path, resolved.message));
      referenced.add(toWhere(path));
      return text;
    }
    if (resolved.referenced) referenced.add(toWhere(path));
    return resolved.value;
  };

  const value = copy(input, []);
  if (values > MAX_VALUES) findings.push(atKey([], `holds more than ${MAX_VALUES} values`));
  return { value, findings, referenced };
}
