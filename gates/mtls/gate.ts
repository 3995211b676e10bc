import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { defineGate, type GateDecision, type GateHost, type RequestGate, type RequestHead } from 'portcullis/gate';
import { type Anchors, openAnchors } from './anchors.js';
import { CODES, Fault, refuse } from './codes.js';
import { readFields } from './fields.js';
import { createJudge, type Judge, type Verdict } from './judge.js';
import { type MtlsOptions, Options } from './options.js';
import { demandRules } from './rules.js';
import type { Source } from './sources.js';
import { createSource } from './sources.js';

/**
 * mtls: the client is who its TLS certificate says, from this listener's own TLS or from the header of a trusted
 * terminator. Writes the fact `certificate`. A request without a certificate is refused unless `required` is false; a
 * certificate that is there and not good is always refused.
 */
export const gate = defineGate({
  name: 'mtls',
  contract: 1,
  options: Options,
  provides: ['certificate'],
  identifies: 'when_alone',
  codes: CODES,
  // Needs no fact of another gate, but is asked before anything is opened: contradicting options show in `portcullis validate` too.
  requires(options) {
    demandRules(options);
    return [];
  },
  async open(options, host) {
    demandRules(options);
    const known = new LRUCache<string, Verdict>({ maxSize: MAX_KNOWN_CHARS, sizeCalculation: (_verdict, text) => text.length });
    const anchors = options.ca_file === undefined ? undefined : await openAnchors(options.ca_file, host, () => known.clear());
    return new MtlsGate(options, host, known, anchors);
  },
});

/** Characters of certificate text whose verdict is remembered by one gate: some thousands of certificates. */
const MAX_KNOWN_CHARS = 4_194_304;

const PASS: GateDecision = Object.freeze({ kind: 'pass' });

class MtlsGate implements RequestGate {
  readonly #source: Source;
  readonly #judge: Judge;
  readonly #isTrusted: (head: RequestHead) => boolean;
  readonly #max_header_bytes: number;
  readonly #without: GateDecision;
  readonly #known: LRUCache<string, Verdict>;
  readonly #anchors: Anchors | undefined;
  readonly #clock: GateHost['clock'];
  readonly #ignored: (lines: number) => void;

  constructor(options: MtlsOptions, host: GateHost, known: LRUCache<string, Verdict>, anchors: Anchors | undefined) {
    this.#source = createSource(options);
    this.#judge = createJudge(options);
    this.#isTrusted = createTrust(options.shared_secret);
    this.#max_header_bytes = options.max_header_bytes;
    this.#without = options.required ? refuse(new Fault('CLIENT_CERTIFICATE_REQUIRED', '')) : PASS;
    this.#known = known;
    this.#anchors = anchors;
    this.#clock = host.clock;
    const ignored = host.metrics.counter('identity_headers_ignored_total', IGNORED_HELP, ['gate']);
    this.#ignored = (lines) => ignored.add({ gate: host.name }, lines);
  }

  decide(head: RequestHead): GateDecision {
    const text = this.#read(head);
    if (text === undefined) return this.#without;
    if (text instanceof Fault) return refuse(text);
    const verdict = this.#known.get(text) ?? this.#learn(text);
    if (verdict instanceof Fault) return refuse(verdict);
    const now_ms = this.#clock.now_ms();
    if (now_ms < verdict.valid_from_ms) return refuse(new Fault('CLIENT_CERTIFICATE_EXPIRED', 'It is not valid yet.'));
    if (now_ms > verdict.valid_to_ms) return refuse(new Fault('CLIENT_CERTIFICATE_EXPIRED', 'It is not valid any more.'));
    return verdict.decision;
  }

  async close(): Promise<void> {
    this.#anchors?.close();
    this.#known.clear();
  }

  #read(head: RequestHead): string | undefined | Fault {
    const { fields } = this.#source;
    if (fields.length === 0) return this.#source.read([], head);
    const { values, lines, fault } = readFields(head, fields, this.#max_header_bytes);
    if (!this.#isTrusted(head)) {
      if (lines > 0) this.#ignored(lines);
      return undefined;
    }
    return fault ?? this.#source.read(values, head);
  }

  #learn(text: string): Verdict | Fault {
    const evidence = this.#source.decode(text);
    if (evidence instanceof Fault) return evidence;
    const verdict = this.#judge(evidence, this.#anchors?.current);
    if (!(verdict instanceof Fault)) this.#known.set(text, verdict);
    return verdict;
  }
}

const IGNORED_HELP = 'Client certificate headers from a hop that is not trusted; they were not believed.';

/**
 * Says whether the hop that sent a head may speak for the client: its address is in `listener.trusted_proxies` and, when
 * a secret is set, it sent that secret exactly once. The comparison takes the same time whatever was sent.
 */
function createTrust(secret: { readonly header: string; readonly value: string } | undefined): (head: RequestHead) => boolean {
  if (secret === undefined) return (head) => head.peer.trusted;
  const header = secret.header.toLowerCase();
  const expected = digest(secret.value);
  return (head) => head.peer.trusted && timingSafeEqual(digest(head.headers.get(header) ?? ''), expected);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
