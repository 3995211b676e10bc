import type { MtlsOptions } from './options.js';

/** Throws an Error that lists all problems of options that are each valid but contradict each other. */
export function demandRules(options: MtlsOptions): void {
  const problems = checkRules(options);
  if (problems.length > 0) throw new Error(problems.join('; also '));
}

/** One sentence for each problem, beginning with the option's name. */
function checkRules(options: MtlsOptions): readonly string[] {
  const { source } = options;
  const problems: string[] = [];
  const belongs = (name: string, given: boolean, to: boolean, where: string) => {
    if (given && !to) problems.push(`${name}: is read for ${where} only, and source is ${source}; remove it`);
  };
  const named = source === 'nginx' || source === 'haproxy';
  const passthrough = source === 'alb' && options.mode === 'passthrough';
  for (const name of ['cert_header', 'verify_header'] as const) {
    if (named && options[name] === undefined)
      problems.push(`${name}: source ${source} needs the name of this header; the terminator's config sets it`);
    belongs(name, options[name] !== undefined, named, 'source nginx or haproxy');
  }
  if (source === 'rfc9440' && options.verified_header === undefined) {
    problems.push('verified_header: source rfc9440 needs it, for some terminators send Client-Cert although verification failed');
  }
  if (passthrough && options.ca_file === undefined) {
    problems.push('ca_file: mode passthrough needs it, for the load balancer verifies nothing');
  }
  belongs('verified_header', options.verified_header !== undefined, source === 'rfc9440', 'source rfc9440');
  belongs('mode', options.mode === 'passthrough', source === 'alb', 'source alb');
  belongs('ca_file', options.ca_file !== undefined, passthrough, 'source alb with mode passthrough');
  belongs('hops', options.hops !== 1, source === 'xfcc', 'source xfcc');
  belongs('text_identity', options.text_identity, source === 'xfcc', 'source xfcc');
  belongs('shared_secret', options.shared_secret !== undefined, source !== 'direct', 'a header source');
  if (options.principal === 'spiffe_id' && options.spiffe_trust_domains.length === 0 && options.allow.spiffe_ids.length === 0) {
    problems.push('principal: spiffe_id needs spiffe_trust_domains, for no domain is trusted by default');
  }
  checkAllow(options, problems);
  checkHeaders(options, problems);
  return problems;
}

function checkAllow({ allow }: MtlsOptions, problems: string[]): void {
  for (const id of allow.spiffe_ids) {
    if (!/^spiffe:\/\/[a-z0-9._-]{1,255}(\/[A-Za-z0-9._-]+)*(\/\*)?$/.test(id)) {
      problems.push(`allow.spiffe_ids: "${id}" is not spiffe://trust-domain/path, with * as the last segment at most`);
    }
  }
  for (const subject of allow.subjects) {
    if (subject.startsWith('/') || /[^\\], /.test(subject)) {
      problems.push(`allow.subjects: "${subject}" is not RFC 4514 text; write CN=alice,O=Example without a space after the comma`);
    }
  }
}

function checkHeaders(options: MtlsOptions, problems: string[]): void {
  const seen = new Set<string>();
  for (const [option, name] of [
    ['cert_header', options.cert_header],
    ['verify_header', options.verify_header],
    ['verified_header.name', options.verified_header?.name],
    ['shared_secret.header', options.shared_secret?.header],
  ] as const) {
    if (name === undefined) continue;
    const lower = name.toLowerCase();
    if (TAKEN.has(lower)) problems.push(`${option}: ${name} already has a meaning in HTTP; choose another name`);
    if (seen.has(lower)) problems.push(`${option}: ${name} is named twice; each value needs its own header`);
    seen.add(lower);
  }
}

const TAKEN: ReadonlySet<string> = new Set(
  'authorization connection content-length content-type cookie host transfer-encoding upgrade expect te client-cert client-cert-chain x-forwarded-for'.split(
    ' ',
  ),
);
