// The stdio server behind every bridge: the bench's own tool.
import { serveStdio } from 'portcullis/server';
import { server } from '../hosted/weather.js';

await serveStdio(server, { input: process.stdin, output: process.stdout });
