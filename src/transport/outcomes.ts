import type { TransportFault, TransportOutcome } from '../contract/transport.js';

/** Outcomes that every transport has. */
export const DONE: TransportOutcome<void> = { ok: true, value: undefined };
export const CLOSED: TransportFault = { code: 'CLOSED', message: 'the connection is closed' };
export const CANCELLED: TransportFault = { code: 'CANCELLED', message: 'the request was cancelled' };
