// Every block of TypeScript or JavaScript that the documentation shows compiles as it stands, under the strictest options. What a block
// leaves to the reader stands in BEFORE; nothing but declarations goes there.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Block, compileBlocks, placeOf } from './support/documented-code.js';
import { repositoryPath } from './support/repository.js';

const PAGES = ['README.md', 'gates/README.md', 'examples/README.md', ...pagesIn('docs'), ...pagesIn('docs/decisions'), ...pagesOfGates()];
const PLACE = placeOf('documented-types');
const SERVER = `import type { Server } from 'portcullis/server'; declare const server: Server;\n`;

/** By the first line of the block. */
const BEFORE: Readonly<Record<string, readonly [before: string, after?: string]>> = {
  "app.addHook('onRequest', async (request) => {": [
    `import { fastify, type FastifyRequest } from 'fastify'; import { fastifyMount } from 'portcullis/fastify';
declare function verified(request: FastifyRequest): Promise<string>; const app = fastify();\n${SERVER}`,
  ],
  'run({ branch }, context) {': [
    `import { acceptedContent, defineTool, elicit, Type } from 'portcullis/server';
const FORM = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
export const tool = defineTool({ name: 'delete', input: Type.Object({ branch: Type.String() }),\n`,
    '});',
  ],
  'const dispatch = createDispatch(server, { clock: systemClock });': [
    `import { createDispatch, systemClock } from 'portcullis/server';\n${SERVER}`,
  ],
  "import { serveStdio } from 'portcullis/server';": [SERVER],
};

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(repositoryPath(page), 'utf8');
  return [...text.matchAll(/^```(?:ts|js|typescript|javascript|mjs)\n(.*?)^```$/gms)].map(({ 1: code = '', index }) => ({
    where: `${page}:${text.slice(0, index).split('\n').length + 1}`,
    code,
  }));
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(repositoryPath(folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
}

function pagesOfGates(): readonly string[] {
  return readdirSync(repositoryPath('gates'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('/README.md'))
    .map((file) => `gates/${file}`);
}

/** What the compiler says of these blocks, each between what it leaves to the reader. */
async function compile(blocks: readonly Block[]): Promise<string> {
  const whole = blocks.map(({ where, code }) => {
    const [before = '', after = ''] = BEFORE[code.slice(0, code.indexOf('\n'))] ?? [];
    return { where, code: `${before}${code}${after}` };
  });
  try {
    return await compileBlocks(whole, PLACE);
  } finally {
    rmSync(PLACE, { recursive: true });
  }
}

describe('code in the documentation', () => {
  it('compiles in strict TypeScript', async () => {
    const blocks = PAGES.flatMap(blocksOf);
    assert.ok(blocks.length >= 10, `${blocks.length} blocks`);
    assert.equal(await compile(blocks), '');
    const firsts = new Set(blocks.map(({ code }) => code.slice(0, code.indexOf('\n'))));
    for (const first of Object.keys(BEFORE)) assert.ok(firsts.has(first), `no block begins with ${first}`);
  });

  it('would be found when it does not', async () => {
    const code = `import type { ToolResult } from 'portcullis/client';\ndeclare const result: ToolResult;\nconsole.log(result.content[0].text);\n`;
    assert.match(await compile([{ where: 'page.md:1', code }]), /^page\.md:1\(3,\d+\): error TS2532: Object is possibly 'undefined'\./);
  });
});
