import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';

export const ISSUER = 'https://id.example.com';
export const AUDIENCE = 'https://mcp.example.com/mcp';

/** One RSA key of 2 048 bits and one access token that is good for an hour. */
export interface Issued {
  readonly token: string;
  /** JWK Set, as JSON. */
  readonly jwks: string;
  readonly public_pem: string;
}

export async function issueToken(): Promise<Issued> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench-1', alg: 'RS256', use: 'sig' };
  return { token: await sign(privateKey), jwks: JSON.stringify({ keys: [jwk] }), public_pem: await exportSPKI(publicKey) };
}

function sign(key: CryptoKey): Promise<string> {
  return new SignJWT({ scope: 'mcp.read mcp.write', client_id: 'bench-client' })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench-1', typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('bench-user')
    .setJti('b3f0c1de-6a52-4c5e-9a43-2f2f5b9f2a11')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key);
}
