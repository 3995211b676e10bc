import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createEndpoint, SourceFailure } from '../../gates/oauth-bearer/endpoint.js';
import { createFileSource, createRemoteSource } from '../../gates/oauth-bearer/key-source.js';
import type { LoadedConfig } from '../config/load.js';
import { type Egress, NO_PROXY } from '../contract/egress.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { runHttpCheck, viaProxy, whyUnreachable } from './http-check.js';
import { type LoginServers, loginServers, lookAtLogin } from './login.js';

/** An issuer that a gate trusts, and where its keys are. */
interface Trusted {
  readonly issuer: string;
  readonly jwks_uri: string | undefined;
  readonly jwks_file: string | undefined;
}

/** That the metadata and the keys of each issuer can be had, in the way the gate gets them; and that the services answer which gates ask. */
export function checkIssuers(loaded: LoadedConfig, egress: Egress = NO_PROXY): readonly Check[] {
  const keys = new Map(trusted(loaded).map((one) => [JSON.stringify(one), one]));
  const logins = loginServers(loaded);
  const issuers = new Set([...keys.values()].map(({ issuer }) => issuer));
  return [
    ...[...keys.values()].map((one) => checkKeys(one, loaded.folder, egress, logins)),
    ...[...logins.keys()].filter((server) => !issuers.has(server)).map((server) => checkLogin(server, egress, logins)),
    ...services(loaded, egress),
  ];
}

/** Every issuer of the config, once. */
export function issuersOf(loaded: LoadedConfig): readonly string[] {
  return [
    ...new Set(
      trusted(loaded)
        .filter(({ jwks_file }) => jwks_file === undefined)
        .map(({ issuer }) => issuer),
    ),
  ];
}

function trusted({ config }: LoadedConfig): readonly Trusted[] {
  return Object.values(config.gates).flatMap(({ use, options }) => {
    if (use !== 'oauth-bearer') return [];
    const { issuer, jwks_uri, jwks_file } = options as { issuer: string | readonly string[]; jwks_uri?: string; jwks_file?: string };
    return [issuer].flat().map((one) => ({ issuer: one, jwks_uri, jwks_file }));
  });
}

function checkKeys({ issuer, jwks_uri, jwks_file }: Trusted, folder: string, egress: Egress, logins: LoginServers): Check {
  const name = `issuer ${issuer}`;
  return {
    name,
    async run(signal) {
      const endpoint = createEndpoint({ kind: 'close' }, egress);
      const source = jwks_file === undefined ? createRemoteSource(endpoint, issuer, jwks_uri) : createFileSource(folder, jwks_file);
      try {
        const { size, skipped } = await source.load(false, signal);
        const late = logins.get(issuer);
        const from =
          jwks_file === undefined
            ? jwks_uri === undefined
              ? 'metadata and keys are there'
              : 'its keys are there'
            : 'its keys are in jwks_file';
        return [
          ok(name, `${from}: ${size} ${size === 1 ? 'key' : 'keys'}${jwks_file === undefined ? viaProxy(jwks_uri ?? issuer, egress) : ''}`),
          ...skipped
            .filter(({ faulty }) => faulty)
            .map(({ key, why }) => warn(name, `${key} is skipped: ${why}`, 'Have the key replaced there; the others serve.')),
          ...(late === undefined || jwks_file !== undefined ? [] : await lookAtLogin(name, endpoint, issuer, late, signal)),
        ];
      } catch (error) {
        return [explain(name, error)];
      } finally {
        await source.close();
        await endpoint.close();
      }
    },
  };
}

/** An authorization server that a discovery document names and no gate has as its issuer. */
function checkLogin(server: string, egress: Egress, logins: LoginServers): Check {
  const name = `authorization server ${server}`;
  return {
    name,
    async run(signal) {
      const endpoint = createEndpoint({ kind: 'close' }, egress);
      try {
        const findings = await lookAtLogin(name, endpoint, server, logins.get(server) ?? [], signal);
        return findings.length === 0 ? [ok(name, 'clients can log in there')] : findings;
      } finally {
        await endpoint.close();
      }
    },
  };
}

function explain(name: string, error: unknown): Finding {
  if (!(error instanceof SourceFailure)) throw error;
  if (error.reason === 'unreachable' && error.cause !== undefined) {
    const { message, remedy } = whyUnreachable(error.cause);
    return fail(name, message, `${remedy} Until then its tokens are answered 503.`);
  }
  return fail(name, error.message, REMEDIES[error.reason] ?? 'Open its metadata in a browser and look what it says.');
}

const REMEDIES: Partial<Record<SourceFailure['reason'], string>> = {
  timeout: 'Check that it is up and reachable from here.',
  status: 'Check that the issuer is written as in its tokens, path included; or set jwks_uri.',
  issuer_mismatch: 'Write issuer letter for letter as the metadata has it; a slash at the end counts.',
  no_keys: 'It publishes no key that can verify a signature; look at its key settings.',
};

/** Introspection endpoints and forward-auth services: any answer counts, for nothing secret is sent. */
function services({ config, folder }: LoadedConfig, egress: Egress): readonly Check[] {
  return Object.entries(config.gates).flatMap(([gate, { use, options }]) => {
    const { introspection, url, ca_file } = options as { introspection?: { url: string }; url?: string; ca_file?: string };
    if (use === 'oauth-bearer' && introspection !== undefined)
      return [checkService(`introspection of gate ${gate}`, introspection.url, undefined, egress)];
    if (use !== 'forward-auth' || url === undefined) return [];
    return [
      checkService(
        `service of gate ${gate}`,
        url,
        ca_file === undefined ? undefined : readFileSync(resolve(folder, ca_file), 'utf8'),
        egress,
      ),
    ];
  });
}

function checkService(name: string, url: string, ca: string | undefined, egress: Egress): Check {
  return {
    name,
    async run(signal) {
      try {
        const { status } = await runHttpCheck(url, { method: 'OPTIONS', ca, egress }, signal);
        return [ok(name, `answers (${status})${viaProxy(url, egress)}`)];
      } catch (error) {
        signal.throwIfAborted();
        const { message, remedy } = whyUnreachable(error);
        return [fail(name, message, remedy)];
      }
    },
  };
}
