import { existsSync } from 'node:fs';
import { repositoryPath } from '../repository.js';

/** A command of another project that `npm run peers` brings from the npm registry; throws an Error that says so when it is not there. */
export function peerTool(name: string): string {
  const script = repositoryPath(`.tmp/peers/node_modules/.bin/${name}`);
  if (!existsSync(script)) throw new Error(`${name} is not here: npm run peers`);
  return script;
}
