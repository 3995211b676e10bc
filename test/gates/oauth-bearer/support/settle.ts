import assert from 'node:assert/strict';

/** Waits, at most five seconds of real time, until something that goes over loopback has happened. */
export async function settle(what: string, happened: () => boolean): Promise<void> {
  const end = performance.now() + 5000;
  while (!happened()) {
    assert.ok(performance.now() < end, `did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
