import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

/** One signature key of a fake issuer. */
export interface FakeKey {
  readonly kid: string | undefined;
  readonly alg: string;
  readonly secret: CryptoKey;
  readonly jwk: JWK;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An authorization server on loopback whose every answer a test may replace; it counts what it is asked. */
export interface FakeIssuer {
  readonly url: string;
  readonly jwks_uri: string;
  /** Published keys. */
  keys: readonly FakeKey[];
  /** Answers by path; replace one to misbehave. */
  readonly answers: Map<string, Answer>;
  /** Paths asked for, in order. */
  readonly asked: string[];
  /** Signs with the first key unless another is given. */
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>, key?: FakeKey): Promise<string>;
  close(): Promise<void>;
}

export async function makeKey(kid: string | undefined, alg = 'ES256', published: JWK = {}): Promise<FakeKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), use: 'sig', ...(kid === undefined ? {} : { kid }), ...published };
  return { kid, alg, secret: privateKey, jwk };
}

export async function startIssuer(path = '', keys?: readonly FakeKey[]): Promise<FakeIssuer> {
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const target = (request.url ?? '').split('?', 1)[0] ?? '';
      asked.push(target);
      const answer = answers.get(target) ?? ((_request, out) => out.writeHead(404).end());
      answer(request, response, Buffer.concat(chunks).toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: FakeIssuer = {
    url: origin + path,
    jwks_uri: `${origin}/jwks`,
    keys: keys ?? [await makeKey('k1')],
    answers,
    asked,
    sign: (claims, header = {}, key = issuer.keys[0] as FakeKey) =>
      new SignJWT(claims)
        .setProtectedHeader({
          alg: key.alg,
          typ: 'at+jwt',
          ...(key.kid === undefined ? {} : { kid: key.kid }),
          ...header,
        } as JWTHeaderParameters)
        .sign(key.secret),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  answers.set(
    `/.well-known/oauth-authorization-server${path}`,
    json(() => ({ issuer: issuer.url, jwks_uri: issuer.jwks_uri })),
  );
  answers.set(
    '/jwks',
    json(() => ({ keys: issuer.keys.map((key) => key.jwk) })),
  );
  return issuer;
}

/** Answers 200 with what `make` returns at that moment. */
export function json(make: () => unknown, type = 'application/json', status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(JSON.stringify(make()));
  };
}
