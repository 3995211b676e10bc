import type { Claims } from '../../contract/claims.js';
import type { HeaderList } from '../../contract/runtime.js';
import type { RequestTrace } from '../../contract/tracing.js';
import type { Connection } from '../socket/connection.js';

/** What the exchange needs of the request it answers. */
export interface RequestContext {
  readonly connection: Connection;
  readonly request_id: string;
  readonly route: string;
  /** Which kinds of answer `Accept` admits. */
  readonly accepts_json: boolean;
  readonly accepts_events: boolean;
  /** Sent with every answer: CORS fields. */
  readonly extra: HeaderList;
  readonly started_ms: number;
  /** What the head said; a body that turns out to be no message is counted under it. */
  readonly claims: Claims;
  readonly trace?: RequestTrace | undefined;
}
