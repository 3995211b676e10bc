// Assertions about the types of `portcullis/gate`. The compiler makes them: a change of a type fails the build.
import { it } from 'node:test';
import {
  type CallSummary,
  defineGate,
  type GateContext,
  type GateDecision,
  type GateHost,
  type GateModule,
  type HeaderInit,
  type Identity,
  type RefuseStatus,
  type RequestGate,
  type RequestHead,
  type Static,
  type TSchema,
  Type,
} from '../../src/gate.js';
import { same } from '../support/same-type.js';

it('types of portcullis/gate', () => {
  const options = Type.Object({ allow: Type.Array(Type.String()), strict: Type.Optional(Type.Boolean()) });
  same<Static<typeof options>, { allow: string[]; strict?: boolean }>();

  const gate = defineGate({
    name: 'g',
    contract: 1,
    options,
    requires: (given) => {
      same<typeof given, { allow: string[]; strict?: boolean }>();
      return given.allow;
    },
    check(given) {
      same<typeof given, { allow: string[]; strict?: boolean }>();
    },
    open(given, host) {
      same<typeof given, { allow: string[]; strict?: boolean }>();
      same<typeof host, GateHost>();
      return {
        decide(head, context) {
          same<typeof head, RequestHead>();
          same<typeof context, GateContext>();
          return { kind: 'pass' };
        },
      };
    },
  });
  same<typeof gate, GateModule<typeof options>>();
  same<GateModule, GateModule<TSchema>>();
  same<GateModule['contract'], 1>();

  same<GateDecision['kind'], 'pass' | 'identify' | 'refuse' | 'serve'>();
  same<Extract<GateDecision, { kind: 'refuse' }>['status'], RefuseStatus>();
  same<Extract<GateDecision, { kind: 'refuse' }>['about'], 'call' | 'caller' | undefined>();
  same<Extract<GateDecision, { kind: 'identify' }>['identity'], Omit<Identity, 'facts'>>();
  same<HeaderInit, Readonly<Record<string, string | readonly string[]>>>();
  same<ReturnType<RequestGate['decide']>, GateDecision | Promise<GateDecision>>();
  same<Parameters<NonNullable<RequestGate['decideCall']>>, [call: CallSummary, head: RequestHead, context: GateContext]>();
  same<GateContext['identity'], Identity | undefined>();
  // @ts-expect-error a status of 200 refuses nothing
  ({ kind: 'refuse', status: 200, code: 'X' }) satisfies GateDecision;
  // @ts-expect-error a refusal has a code
  ({ kind: 'refuse', status: 403 }) satisfies GateDecision;
  // @ts-expect-error contract 2 is not spoken
  defineGate({ name: 'g', contract: 2, options, open: () => ({ decide: () => ({ kind: 'pass' }) }) });
});
