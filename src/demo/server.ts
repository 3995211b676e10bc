import { defineServer } from '../server.js';
import { systemClock } from '../system-clock.js';
import { demoDefinition } from './definition.js';

/** The MCP server of `portcullis demo`, hosted in process: config/portcullis.yaml names this module. */
export const server = defineServer(demoDefinition(systemClock));
