import { createPrometheus, type Prometheus } from '../../src/telemetry/prometheus.js';

const clock = {
  now_ms: () => 0,
  mono_ms: () => 0,
  timer: () => ({ cancel() {} }),
  interval: () => ({ cancel() {} }),
};

/** Runs a test with fresh metrics and ends their watchers. */
export async function withPrometheus(run: (prometheus: Prometheus) => Promise<void>): Promise<void> {
  const prometheus = createPrometheus({ version: '1.2.3', clock });
  try {
    await run(prometheus);
  } finally {
    prometheus.close();
  }
}

/** The sample lines of one metric on the text page, or of a family's part such as `x_sum`. */
export async function samples(prometheus: Prometheus, name: string): Promise<readonly string[]> {
  const { body } = await prometheus.render(undefined);
  return body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

/** Sample lines on the text page. */
export async function seriesCount(prometheus: Prometheus): Promise<number> {
  const { body } = await prometheus.render(undefined);
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}
