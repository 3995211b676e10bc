import { fromPercentPem, single } from '../encoding.js';
import { type Source, toEvidence } from './source.js';

/**
 * AWS Application Load Balancer. In verify mode it checks the chain and sends the leaf; in passthrough mode it checks
 * nothing but the possession of the key and sends all that the client presented, leaf first: the gate checks the chain.
 * Both are URL-encoded PEM in which `+`, `=` and `/` stand for themselves.
 */
export function createAlb(mode: 'verify' | 'passthrough'): Source {
  return {
    fields: [mode === 'verify' ? 'x-amzn-mtls-clientcert-leaf' : 'x-amzn-mtls-clientcert'],
    read: ([cert]) => cert,
    decode: (text) => toEvidence(mode === 'verify' ? single(fromPercentPem(text)) : fromPercentPem(text)),
  };
}
