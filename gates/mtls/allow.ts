import type { ClientNames } from './certificate.js';
import type { MtlsOptions } from './options.js';

/**
 * Says whether a certificate's names are allowed. A list that is empty asks nothing; each list that is not must hold one
 * of the names; so lists are "or", kinds are "and".
 */
export function createAllow(allow: MtlsOptions['allow']): (names: ClientNames, spiffe_id: string | undefined) => boolean {
  const ids = new Set(allow.spiffe_ids.filter((id) => !id.endsWith('/*')));
  const below = allow.spiffe_ids.filter((id) => id.endsWith('/*')).map((id) => id.slice(0, -1));
  const dns = new Set(allow.dns_sans.map((name) => name.toLowerCase()));
  const subjects = new Set(allow.subjects);
  const sha256 = new Set(allow.sha256.map((hex) => hex.replaceAll(':', '').toLowerCase()));
  const asks_spiffe = allow.spiffe_ids.length > 0;
  return (names, spiffe_id) => {
    if (asks_spiffe && !(spiffe_id !== undefined && (ids.has(spiffe_id) || below.some((prefix) => spiffe_id.startsWith(prefix)))))
      return false;
    if (dns.size > 0 && !names.sans.some((san) => san.type === 'dns' && dns.has(san.value.toLowerCase()))) return false;
    if (subjects.size > 0 && !subjects.has(names.subject)) return false;
    return sha256.size === 0 || sha256.has(names.sha256);
  };
}
