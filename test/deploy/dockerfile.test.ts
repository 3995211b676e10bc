import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseDockerfile, type Stage } from '../support/dockerfile.js';
import { repositoryPath } from '../support/repository.js';

const { arguments: given, stages } = parseDockerfile(readFileSync(repositoryPath('deploy/docker/Dockerfile'), 'utf8'));
const ignored = readFileSync(repositoryPath('.dockerignore'), 'utf8').split('\n');

describe('deploy/docker/Dockerfile', () => {
  it('has the stages that it should, the gateway last, so that it is built by default', () => {
    assert.deepEqual(
      stages.map(({ name, base }) => `${name} from ${base}`),
      [
        'build from node:26-trixie-slim',
        'dependencies from node:26-trixie-slim',
        'app from scratch',
        'stdio from node:26-trixie-slim',
        'gateway from gcr.io/distroless/nodejs26-debian13:nonroot',
      ],
    );
  });

  it('names every image by a tag that is not latest, and both can be pinned from outside', () => {
    assert.deepEqual([...given.keys()], ['BUILD_IMAGE', 'RUN_IMAGE']);
    for (const image of given.values()) assert.match(image, /^[^:]+:(?!latest$)[\w.-]+$/);
  });

  it('copies from the context by name, never the whole of it, and never as an archive or from the network', () => {
    for (const { name, instructions } of stages) {
      for (const { name: instruction, text } of instructions) {
        assert.notEqual(instruction, 'ADD', name);
        if (instruction === 'COPY') assert.doesNotMatch(text, /^(?:--\S+\s+)*\.{1,2}\/?\s/, `${name}: ${text}`);
      }
    }
  });

  it('copies only what .dockerignore lets through and what is there', () => {
    assert.ok(ignored.includes('*'));
    for (const source of contextSources()) {
      assert.ok(ignored.includes(`!${source}`), `.dockerignore hides ${source}`);
      assert.ok(existsSync(repositoryPath(source)), `${source} is not there`);
    }
    const let_through = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    assert.deepEqual([...let_through].sort(), [...contextSources()].sort());
  });

  it('installs from the lock file and runs no script of a package', () => {
    const installs = stages.flatMap(({ instructions }) => instructions.filter(({ text }) => /\bnpm (ci|i|install)\b/.test(text)));
    assert.equal(installs.length, 2);
    for (const { text } of installs) assert.match(text, /^npm ci .*--ignore-scripts/);
    assert.match(only(stageOf('dependencies'), 'RUN'), /--omit=dev/);
  });

  for (const name of ['gateway', 'stdio']) {
    describe(`stage ${name}`, () => {
      const stage = stageOf(name);

      it('runs as a user that owns nothing of the app', () => {
        assert.equal(only(stage, 'USER'), '65532:65532');
        for (const { text } of stage.instructions.filter(({ name: instruction }) => instruction === 'COPY'))
          assert.doesNotMatch(text, /--chown|--chmod/);
        const user = stage.instructions.findIndex(({ name: instruction }) => instruction === 'USER');
        assert.deepEqual(
          stage.instructions.slice(user).filter(({ name: instruction }) => ['RUN', 'COPY'].includes(instruction)),
          [],
        );
      });

      it('starts by exec, so that signals reach the gateway', () => {
        const entry: unknown = JSON.parse(only(stage, 'ENTRYPOINT'));
        const command: unknown = JSON.parse(only(stage, 'CMD'));
        const node = name === 'gateway' ? ['/nodejs/bin/node'] : ['/usr/bin/tini', '--', '/usr/local/bin/node'];
        assert.deepEqual(entry, [...node, '/app/dist/src/main.js']);
        assert.deepEqual(command, ['run', '--config', '/etc/portcullis/portcullis.yaml']);
        assert.equal(only(stage, 'STOPSIGNAL'), 'SIGTERM');
      });

      it('has the app and its two ports', () => {
        assert.equal(only(stage, 'COPY'), '--from=app / /');
        assert.equal(only(stage, 'EXPOSE'), '8080 9090');
        assert.match(only(stage, 'ENV'), /^NODE_ENV=production/);
      });
    });
  }

  it('needs no shell in the gateway', () => {
    assert.deepEqual(
      stageOf('gateway').instructions.filter(({ name }) => ['RUN', 'SHELL', 'HEALTHCHECK'].includes(name)),
      [],
    );
  });

  it('writes a bill of materials of exactly what production installs', () => {
    const sbom = JSON.parse(
      execFileSync(process.execPath, [repositoryPath('deploy/docker/sbom.mjs')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    assert.equal(sbom.bomFormat, 'CycloneDX');
    assert.equal(sbom.metadata.component.name, 'portcullis');
    const lock = JSON.parse(readFileSync(repositoryPath('package-lock.json'), 'utf8'));
    const installed = Object.entries<{ dev?: boolean; version: string }>(lock.packages)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
    const listed = sbom.components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`);
    assert.deepEqual([...new Set<string>(listed)].sort(), [...new Set(installed)].sort());
  });
});

function stageOf(name: string): Stage {
  const stage = stages.find((one) => one.name === name);
  assert.ok(stage !== undefined, name);
  return stage;
}

/** The text of the one instruction of this name. */
function only({ name, instructions }: Stage, wanted: string): string {
  const found = instructions.filter((instruction) => instruction.name === wanted);
  assert.equal(found.length, 1, `${name}: ${wanted}`);
  return found[0]?.text ?? '';
}

function contextSources(): readonly string[] {
  const copies = stages.flatMap(({ instructions }) =>
    instructions.filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from')),
  );
  return [...new Set(copies.flatMap(({ text }) => text.split(/\s+/).slice(0, -1)))];
}
