// The module that config/conformance.yaml serves.
import { createHub } from '../../../src/server.js';
import { createConformanceServer } from './create-server.js';

export const server = createConformanceServer(createHub());
