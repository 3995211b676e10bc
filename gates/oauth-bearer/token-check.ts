import type { GateHost } from 'portcullis/gate';
import { createEndpoint } from './endpoint.js';
import { Introspection } from './introspection.js';
import type { IssuerKeys } from './issuer-keys.js';
import { isThreeSegments } from './jws.js';
import { createJwtVerifier } from './jwt-verifier.js';
import { openKeyring } from './keyring.js';
import type { Settings } from './settings.js';
import type { TokenCheck } from './verified-token.js';

/** The way a token that nobody remembers is checked: here, at the authorization server, or both. */
export interface TokenChecker {
  check(token: string): Promise<TokenCheck>;
  close(): Promise<void>;
}

export function openTokenChecker(settings: Settings, host: GateHost): TokenChecker {
  const keyring = openKeyring(settings, host);
  const verify = createJwtVerifier(settings, keyring, host.clock);
  const config = settings.options.introspection;
  const issuer = settings.introspection_issuer;
  if (config === undefined || issuer === undefined) return { check: verify, close: async () => {} };
  const introspection = new Introspection({
    config,
    settings,
    issuer,
    keys: keyring.get(issuer) as IssuerKeys,
    endpoint: createEndpoint({ kind: 'keep', max: 16 }, host.egress),
    clock: host.clock,
    log: host.log,
    gate: host.name,
    answers: host.metrics.counter('introspections_total', 'Answers of the introspection endpoint by outcome.', ['gate', 'outcome']),
  });
  return {
    check: async (token) => {
      if (!isThreeSegments(token)) return introspection.check(token);
      const local = await verify(token);
      if (config.tokens === 'opaque' || local.kind !== 'verified' || local.token.decision.identity.issuer !== issuer) return local;
      return introspection.check(token, local.token);
    },
    close: () => introspection.close(),
  };
}
