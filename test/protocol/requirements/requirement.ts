/**
 * Whom a sentence binds. `server` and `intermediary`: the gateway, so a test cites it. `client`: whoever calls. `stdio`: that
 * transport alone. `author`: who writes a server's handlers, which no library can do for them.
 */
export type Role = 'server' | 'intermediary' | 'client' | 'stdio' | 'author';

/** One MUST or MUST NOT of the specification, in words of our own. */
export interface Requirement {
  /** Prefix of the page and a number, e.g. `HTTP-12`. Never given twice, also when a sentence goes. */
  readonly id: string;
  /** Page and section of revision 2026-07-28, e.g. `basic/versioning#extension-negotiation`. */
  readonly source: string;
  readonly role: Role;
  readonly text: string;
}

/** The requirements of one page; each row is number, section, role, text. */
export function page(name: string, prefix: string, rows: readonly (readonly [number, string, Role, string])[]): readonly Requirement[] {
  return rows.map(([number, section, role, text]) => ({
    id: `${prefix}-${String(number).padStart(2, '0')}`,
    source: `${name}#${section}`,
    role,
    text,
  }));
}
