// Test helpers for gates: `import { makeHead, openGate } from 'portcullis/testing'`. No server, no socket, no real time.
export { makeClock, type TestClock } from './testing/clock.js';
export { type HeadInit, makeContext, makeHead, makeIdentity } from './testing/head.js';
export { type HostInit, makeHost, openGate, type TestHost } from './testing/host.js';
export { makeLog, type TestLog, type TestLogLine } from './testing/log.js';
export { makeMetrics, type TestMetrics } from './testing/metrics.js';
