import { makeIdentity } from 'portcullis/testing';
import type { HandlerToken, WrapContext } from '../../../src/core/wrap/wrapper.js';
import { ComponentRefusal } from '../../../src/core/wrap/wrapper.js';

/** One call. `cancel` gives it up. */
export interface FakeCall extends WrapContext {
  cancel(): void;
}

export function makeCall(principal?: string): FakeCall {
  const controller = new AbortController();
  return {
    ...derive(principal, controller),
    cancel: () => controller.abort(new Error('the client left')),
    get cancelled() {
      return controller.signal.aborted;
    },
  };
}

function derive(principal: string | undefined, token: { readonly signal: AbortSignal } | HandlerToken): WrapContext {
  return {
    identity: principal === undefined ? undefined : makeIdentity({ principal }),
    facts: {},
    get cancelled() {
      return 'cancelled' in token ? token.cancelled : token.signal.aborted;
    },
    get signal() {
      return token.signal;
    },
    under: (inner) => derive(principal, inner),
  };
}

/** The text with which a call was refused, or its answer. */
export async function textOf(call: () => Promise<unknown> | unknown): Promise<unknown> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof ComponentRefusal) return cause.text;
    throw cause;
  }
}

/** A promise that is settled by hand. */
export function makeHeld() {
  let release: (value: unknown) => void = () => {};
  let fail: (cause: unknown) => void = () => {};
  const promise = new Promise<unknown>((resolve, reject) => {
    release = resolve;
    fail = reject;
  });
  return { promise, release, fail };
}
