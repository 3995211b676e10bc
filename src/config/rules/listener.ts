import { isLoopback } from '../format/network.js';
import type { Rule } from '../view.js';

/** Plaintext that leaves the machine, trust in everybody and sealing keys that are the same are said at start. */
export const exposure: Rule = ({ listener, ops }, report) => {
  if (listener !== undefined) {
    if (listener.tls === undefined && !isLoopback(listener.host)) {
      report.warn(
        ['listener', 'host'],
        'plaintext HTTP outside loopback, gates or not: tokens can be read on the way; set listener.tls, or keep this behind a TLS terminator on a private network',
      );
    }
    for (const [index, cidr] of listener.trusted_proxies.entries()) {
      if (cidr.endsWith('/0'))
        report.warn(['listener', 'trusted_proxies', index], 'trusts everybody: any client can claim any address and certificate');
    }
    for (const [index, key] of listener.sessions.keys.entries()) {
      if (key.length < 32)
        report.warn(['listener', 'sessions', 'keys', index], 'has fewer than 32 characters; take one from: openssl rand -base64 32');
    }
    const [first, second] = listener.sessions.keys;
    if (first !== undefined && first === second) {
      report.error(['listener', 'sessions', 'keys', 1], 'is the same as the first key; a rotation needs two different ones');
    }
    if (listener.tls?.client_certificates === 'require' && listener.tls.client_ca_file === undefined) {
      report.error(['listener', 'tls', 'client_certificates'], 'needs client_ca_file: without it no client certificate can be checked');
    }
  }
  if (ops?.enabled === true && !isLoopback(ops.host)) {
    report.warn(
      ['ops', 'host'],
      'the ops listener does not authenticate callers and accepts a drain command: only a private network may reach it',
    );
  }
};

/** A certificate that arrives in a header counts only from a trusted proxy: without one the gate refuses everybody. */
export const terminators: Rule = ({ listener, gates }, report) => {
  if (listener === undefined || listener.trusted_proxies.length > 0) return;
  for (const [name, gate] of gates) {
    const source = gate?.use === 'mtls' ? gate.options.source : undefined;
    if (typeof source === 'string' && source !== 'direct')
      report.warn(
        ['gates', name],
        'takes certificates from a header, but listener.trusted_proxies is empty: name the TLS terminator there',
      );
  }
};

/** The ops listener needs a separate port. */
export const ports: Rule = ({ listener, ops }, report) => {
  if (listener === undefined || ops === undefined || !ops.enabled) return;
  if (listener.port === 0 || listener.port !== ops.port) return;
  const hosts = [listener.host, ops.host];
  if (hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::') || hosts.every(isLoopback)) {
    report.error(['ops', 'port'], 'is the public listener’s port; probes and metrics never share it');
  }
};

/** Limits that depend on each other, and the time that the platform leaves for a drain. */
export const limits: Rule = ({ listener, env }, report) => {
  if (listener === undefined) return;
  const { limits } = listener;
  if (limits.request_timeout_max_ms < limits.request_timeout_ms) {
    report.error(['listener', 'limits', 'request_timeout_max_ms'], 'is less than request_timeout_ms: it must be at least as much');
  }
  const grace = env.TERMINATION_GRACE_PERIOD_SECONDS;
  if (grace === undefined || grace === '') return;
  const needed_ms = limits.drain_delay_ms + limits.drain_timeout_ms + 5_000;
  const given_ms = /^[0-9]{1,9}$/.test(grace) ? Number(grace) * 1_000 : Number.NaN;
  if (Number.isNaN(given_ms)) report.warn(['listener', 'limits'], 'TERMINATION_GRACE_PERIOD_SECONDS is not a whole number of seconds');
  else if (given_ms < needed_ms) {
    report.warn(
      ['listener', 'limits', 'drain_timeout_ms'],
      `TERMINATION_GRACE_PERIOD_SECONDS leaves ${given_ms} ms; drain_delay_ms + drain_timeout_ms + 5 s need ${needed_ms} ms, so a drain would be cut`,
    );
  }
};
