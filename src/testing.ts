// What a gate is tested with: `import { makeHead, openGate } from 'portcullis/testing'`. No server, no socket, no real time.
export { makeClock, type TestClock } from './testing/clock.js';
export { makeContext, makeIdentity } from './testing/context.js';
export { type HeadInit, makeHead } from './testing/head.js';
export { type HostInit, makeHost, type TestHost } from './testing/host.js';
export { makeLog, type TestLog, type TestLogLine } from './testing/log.js';
export { makeMetrics, type TestMetrics } from './testing/metrics.js';
export { openGate } from './testing/open-gate.js';
