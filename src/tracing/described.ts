import type { Identity } from '../contract/identity.js';

/** What is kept of a request until its span ends: texts, no head and no body, because a stream may last for hours. */
export interface Described {
  http_method: string;
  /** Raw JSON text of the id of a request. */
  id: string | undefined;
  /** `params.name`, or the URI of a resource. */
  name: string | undefined;
  /** A legacy `Mcp-Session-Id` as sent. */
  session: string | undefined;
  identity: Identity | undefined;
  /** The code that refused it. */
  refused: string | undefined;
  /** Config name of the gate that refused it. */
  refused_by: string | undefined;
}
