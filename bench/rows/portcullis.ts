import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEGACY_ANSWER } from '../messages.js';
import { freePort, startChild, untilListening } from '../parts/child.js';
import { AUDIENCE, ISSUER } from '../parts/issuer.js';
import type { Contender, Ground, Row } from './row.js';

/** This gateway with ip-allow and oauth-bearer; the token is verified once and then remembered. */
export const portcullis: Row = {
  name: 'portcullis, ip-allow + oauth-bearer',
  guarded: true,
  open: (ground) => openPortcullis(ground, 'guarded', true),
};

/** This gateway with a public route. */
export const portcullisPublic: Row = {
  name: 'portcullis, public route',
  guarded: false,
  open: (ground) => openPortcullis(ground, 'public', false),
};

/** The same call to a server that the gateway speaks to in 2025-11-25, over a session of its own. */
export const portcullisToLegacy: Row = {
  name: 'portcullis, modern client, legacy server',
  guarded: false,
  own_answer: true,
  open: (ground) => openPortcullis(ground, 'to-legacy', false, 0, 'legacy'),
};

/** The call of a legacy client, forwarded as it is. */
export const portcullisLegacy: Row = {
  name: 'portcullis, legacy client and server',
  guarded: false,
  open: (ground) => openPortcullis(ground, 'legacy', false, 0, 'as_is'),
};

/** The call of a legacy client to a server that the gateway speaks to in 2026-07-28. */
export const portcullisToModern: Row = {
  name: 'portcullis, legacy client, modern server',
  guarded: false,
  answer: LEGACY_ANSWER,
  open: (ground) => openPortcullis(ground, 'to-modern', false, 0, 'modern'),
};

/** Runs `portcullis run` on a config file, as an operator would. `streams` is how many subscriptions it must hold. */
export async function openPortcullis(ground: Ground, name: string, guarded: boolean, streams = 0, protocol = 'auto'): Promise<Contender> {
  const home = ground.folder(name);
  const port = await freePort();
  writeFileSync(join(home, 'keys.json'), ground.issued.jwks);
  writeFileSync(join(home, 'portcullis.json'), JSON.stringify(config(port, ground.upstream_port, guarded, streams, protocol)));
  return start(home, port);
}

/** This gateway with a server of our own core in process, guarded. */
export function openHosted(ground: Ground): Promise<Contender> {
  const module = fileURLToPath(new URL('../hosted/weather.js', import.meta.url));
  return openServing(ground, 'hosted', { kind: 'hosted', module });
}

/** This gateway before a server over stdio, guarded. */
export function openStdio(ground: Ground, [command, ...args]: readonly string[]): Promise<Contender> {
  return openServing(ground, 'stdio', { kind: 'stdio', command, args });
}

async function openServing(ground: Ground, name: string, runtime: object): Promise<Contender> {
  const home = ground.folder(name);
  const port = await freePort();
  writeFileSync(join(home, 'keys.json'), ground.issued.jwks);
  const whole = config(port, ground.upstream_port, true, 0);
  writeFileSync(join(home, 'portcullis.json'), JSON.stringify({ ...whole, runtimes: { server: runtime } }));
  return start(home, port);
}

async function start(home: string, port: number): Promise<Contender> {
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const child = startChild(process.execPath, [...flags, main, 'run', '-c', join(home, 'portcullis.json')], { cwd: home });
  await untilListening(port);
  return { port, child };
}

function config(port: number, upstream: number, guarded: boolean, streams: number, protocol = 'auto'): object {
  const room = streams + 96;
  return {
    listener: {
      port,
      public_url: new URL(AUDIENCE).origin,
      ...(streams === 0 ? {} : { limits: { max_connections: room, max_subscriptions: room, max_subscriptions_per_caller: room } }),
    },
    ops: { port: 0 },
    gates: guarded
      ? {
          near: { use: 'ip-allow', options: { allow: ['127.0.0.0/8', '10.0.0.0/8'] } },
          token: {
            use: 'oauth-bearer',
            options: { issuer: ISSUER, audience: AUDIENCE, jwks_file: 'keys.json', required_scopes: ['mcp.read'] },
          },
        }
      : {},
    runtimes: {
      server: {
        kind: 'proxied',
        protocol,
        url: `http://127.0.0.1:${upstream}/${protocol === 'legacy' || protocol === 'modern' ? 'ids' : 'mcp'}`,
        ...(streams === 0 ? {} : { connections: room, max_streams: room, max_running_per_caller: room }),
      },
    },
    routes: [{ path: '/mcp', runtime: 'server', ...(guarded ? { gates: ['near', 'token'] } : { public: true }) }],
  };
}
