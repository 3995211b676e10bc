import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.js';

// What our manifests use of three custom resources, written down from their API references; a field that is not here is a mistake.

interface Custom<Version extends string, Kind extends string, Spec> {
  apiVersion: Version;
  kind: Kind;
  metadata: ObjectMeta;
  spec: Spec;
}

/** Gateway API, standard channel, v1. */
export type HTTPRoute = Custom<
  'gateway.networking.k8s.io/v1',
  'HTTPRoute',
  {
    parentRefs: { name: string; namespace?: string; sectionName?: string; port?: number; group?: string; kind?: string }[];
    hostnames?: string[];
    rules: {
      name?: string;
      matches?: {
        path?: { type: 'PathPrefix' | 'Exact' | 'RegularExpression'; value: string };
        method?: string;
      }[];
      timeouts?: { request?: string; backendRequest?: string };
      backendRefs: { name: string; port: number; weight?: number; namespace?: string }[];
    }[];
  }
>;

interface Endpoint {
  port: string;
  path: string;
  interval?: string;
  scrapeTimeout?: string;
  scheme?: 'http' | 'https';
}

/** Prometheus operator, v1. */
export type ServiceMonitor = Custom<'monitoring.coreos.com/v1', 'ServiceMonitor', { selector: LabelSelector; endpoints: Endpoint[] }>;

/** Prometheus operator, v1. */
export type PodMonitor = Custom<'monitoring.coreos.com/v1', 'PodMonitor', { selector: LabelSelector; podMetricsEndpoints: Endpoint[] }>;

/** Prometheus operator, v1. */
export type PrometheusRule = Custom<
  'monitoring.coreos.com/v1',
  'PrometheusRule',
  {
    groups: {
      name: string;
      rules: { alert: string; expr: string; for?: string; labels: Record<string, string>; annotations: Record<string, string> }[];
    }[];
  }
>;
