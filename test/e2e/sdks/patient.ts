import { type Hop, type Sighting, startHop } from './hop.js';
import { type Driver, type Outcome, type Partner, startDriver } from './partners.js';
import type { Refusal } from './refusals.js';
import type { Cell } from './table.js';

/** What was seen of one cell, for a reader who asks why. */
export interface Finding {
  readonly refusal: string;
  readonly cell: Cell;
  /** What the gateway answered the refused call, each try. */
  readonly answers: readonly Sighting[];
  /** What the client made of the refused call, and of the good one after it. */
  readonly refused: Outcome;
  readonly after: Outcome;
}

/** A client of one SDK, its hop to the gateway, and what became of it. */
export interface Patient {
  readonly partner: Partner;
  readonly hop: Hop;
  readonly findings: readonly Finding[];
  /** Meets one refusal: a good call, the refused one, and a good call by the same client object. */
  meet(refusal: Refusal, around?: Around): Promise<void>;
  close(): Promise<void>;
}

/** What is awaited besides: `ready` before the refused call, `over` between it and the good one. */
export interface Around {
  readonly ready?: () => Promise<void>;
  readonly over?: () => Promise<void>;
}

export async function admit(partner: Partner, gateway: number): Promise<Patient> {
  const hop = await startHop(gateway);
  const findings: Finding[] = [];
  let driver: Driver | undefined;
  let is_open = false;

  const name = `${partner.name} ${partner.era}`;
  const good = async (): Promise<Outcome> => {
    const text = `${findings.length} is well`;
    const outcome = await driver!.call('echo', text);
    return outcome.kind === 'ok' && outcome.text !== text ? { kind: 'error', text: `answered ${outcome.text}` } : outcome;
  };
  const open = async (): Promise<void> => {
    driver ??= startDriver(partner);
    if (!is_open) {
      const opened = await driver.open(`http://127.0.0.1:${hop.port}/mcp`, { 'x-api-key': 'caller' });
      if (opened.kind !== 'ok') throw new Error(`${name}: does not connect: ${opened.kind} ${opened.text}`);
    }
    const first = await good();
    if (first.kind !== 'ok') throw new Error(`${name}: no good call in a new session: ${first.kind} ${first.text}`);
    is_open = true;
  };

  return {
    partner,
    hop,
    findings,
    async meet(refusal, around = {}) {
      const statuses = refusal.statuses[partner.era];
      if (statuses === undefined) return;
      await open();
      await around.ready?.();
      hop.arm(refusal.edit ?? {});
      const refused = await driver!.call(refusal.tool ?? 'echo', refusal.text ?? 'refuse this');
      const answers = hop.disarm();
      const met = answers.map(({ status }) => status);
      if (met.length === 0 || !met.every((status) => statuses.includes(status)) || refused.kind === 'ok')
        throw new Error(
          `${name}: ${refusal.name} was answered ${met.join(', ') || 'nothing'}; the client said ${refused.kind} ${refused.text}\n${answers.at(-1)?.text}`,
        );
      await around.over?.();
      const after = await good();
      const lives = after.kind === 'ok';
      const cell = !lives ? 'ends' : refused.kind === 'unanswered' ? 'yes, silent' : 'yes';
      findings.push({ refusal: refusal.name, cell, answers, refused, after });
      if (lives) return;
      is_open = false;
      // A driver that closes in time can open again; another is ended.
      if ((await driver!.close()).kind !== 'unanswered') return;
      driver!.stop();
      driver = undefined;
    },
    async close() {
      driver?.stop();
      await hop.close();
    },
  };
}
