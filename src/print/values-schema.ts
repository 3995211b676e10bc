import type { GateModule } from '../contract/gate.js';
import { printEditorSchema } from './editor-schema.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * deploy/helm/portcullis/values.schema.json: the values of the chart, with the schema of the gateway's own configuration as
 * `config`. Unknown values are refused; objects of Kubernetes itself are only checked for being one.
 */
export function printValuesSchema(builtins: Readonly<Record<string, GateModule>>): string {
  const { $schema, title, required, ...config } = JSON.parse(printEditorSchema(builtins), (key, value) =>
    key === 'pattern' && typeof value === 'string' ? withoutLargeBounds(value) : value,
  );
  // The chart has no default route, and none at all with existingConfigMap: a template requires them.
  delete config.properties.routes.minItems;
  const values = closed({ ...VALUES, config: { ...config, description: 'The configuration of the gateway, passed through.' } });
  return `${JSON.stringify({ $schema, title: 'Values of the Portcullis chart', ...values }, undefined, 2)}\n`;
}

/** Helm reads patterns as RE2, which refuses counts over 1 000; the gateway itself still checks them. */
function withoutLargeBounds(pattern: string): string {
  return pattern.replace(/\{([0-9]+),([0-9]{4,})\}/g, '{$1,}');
}

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };
const OBJECT = { type: 'object' };
const LIST = { type: 'array' };
const OBJECTS = { type: 'array', items: OBJECT };
const TEXTS = { type: 'array', items: { type: 'string', minLength: 1 } };
const TABLE = { type: 'object', additionalProperties: { type: 'string' } };
const PORT = { type: 'integer', minimum: 1, maximum: 65_535 };
const AMOUNT = { type: ['integer', 'string', 'null'] };
const DURATION = { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' };

const whole = (minimum: number): Json => ({ type: 'integer', minimum });
const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });
const closed = (properties: Json): Json => ({ type: 'object', properties, additionalProperties: false });
const MONITOR = closed({
  enabled: FLAG,
  labels: TABLE,
  annotations: TABLE,
  interval: DURATION,
  scrapeTimeout: DURATION,
  relabelings: OBJECTS,
  metricRelabelings: OBJECTS,
});
/** httpGet is not there: path and port of a probe are the chart's. */
const PROBE = closed({
  initialDelaySeconds: whole(0),
  periodSeconds: whole(1),
  timeoutSeconds: whole(1),
  failureThreshold: whole(1),
  successThreshold: whole(1),
});

const EXPOSED: Json = {
  service: closed({
    type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
    port: PORT,
    appProtocol: TEXT,
    nodePort: orNull(PORT),
    annotations: TABLE,
    labels: TABLE,
    clusterIP: TEXT,
    loadBalancerClass: TEXT,
    loadBalancerSourceRanges: TEXTS,
    externalTrafficPolicy: { enum: ['', 'Cluster', 'Local'] },
    sessionAffinity: { enum: ['None', 'ClientIP'] },
  }),
  opsService: closed({ port: PORT, annotations: TABLE, labels: TABLE }),
  httpRoute: closed({
    enabled: FLAG,
    annotations: TABLE,
    labels: TABLE,
    parentRefs: OBJECTS,
    hostnames: TEXTS,
    matches: OBJECTS,
    filters: OBJECTS,
    timeouts: OBJECT,
    additionalRules: OBJECTS,
  }),
  ingress: closed({
    enabled: FLAG,
    className: TEXT,
    annotations: TABLE,
    labels: TABLE,
    hosts: TEXTS,
    path: { type: 'string', pattern: '^/' },
    pathType: { enum: ['Prefix', 'Exact', 'ImplementationSpecific'] },
    extraPaths: OBJECTS,
    tls: OBJECTS,
  }),
  networkPolicy: closed({
    enabled: FLAG,
    traffic: closed({ from: OBJECTS }),
    ops: closed({ from: OBJECTS }),
    egress: closed({ enabled: FLAG, to: OBJECTS }),
  }),
};

const OPERATED: Json = {
  podDisruptionBudget: closed({
    enabled: FLAG,
    minAvailable: AMOUNT,
    maxUnavailable: AMOUNT,
    unhealthyPodEvictionPolicy: { enum: ['', 'AlwaysAllow', 'IfHealthyBudget'] },
  }),
  autoscaling: closed({
    enabled: FLAG,
    minReplicas: whole(1),
    maxReplicas: whole(1),
    targetCPUUtilizationPercentage: orNull(whole(1)),
    targetMemoryUtilizationPercentage: orNull(whole(1)),
    metrics: OBJECTS,
    behavior: OBJECT,
  }),
  metrics: closed({
    serviceMonitor: MONITOR,
    podMonitor: MONITOR,
    prometheusRule: closed({
      enabled: FLAG,
      labels: TABLE,
      annotations: TABLE,
      additionalRuleLabels: TABLE,
      disabled: TEXTS,
      runbookUrl: TEXT,
    }),
    dashboard: closed({ enabled: FLAG, labels: TABLE, annotations: TABLE }),
  }),
};

const POD: Json = {
  replicaCount: whole(0),
  image: closed({
    repository: { type: 'string', minLength: 1 },
    tag: TEXT,
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
  }),
  imagePullSecrets: OBJECTS,
  terminationGracePeriodSeconds: orNull(whole(1)),
  lifecycle: closed({ preStopSleepSeconds: whole(0) }),
  serviceAccount: closed({ create: FLAG, name: TEXT, annotations: TABLE, automountServiceAccountToken: FLAG }),
  strategy: OBJECT,
  revisionHistoryLimit: whole(0),
  minReadySeconds: whole(0),
  startupProbe: PROBE,
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  resources: OBJECT,
  podSecurityContext: OBJECT,
  securityContext: OBJECT,
  tmp: closed({ sizeLimit: TEXT }),
  topologySpreadConstraints: OBJECTS,
  nodeSelector: TABLE,
  tolerations: OBJECTS,
  affinity: OBJECT,
  priorityClassName: TEXT,
  runtimeClassName: TEXT,
  hostAliases: OBJECTS,
  dnsPolicy: { enum: ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] },
  dnsConfig: OBJECT,
  deploymentAnnotations: TABLE,
  podAnnotations: TABLE,
  podLabels: TABLE,
  extraArgs: TEXTS,
  extraEnv: OBJECTS,
  extraEnvFrom: OBJECTS,
  extraVolumes: OBJECTS,
  extraVolumeMounts: OBJECTS,
  extraContainers: OBJECTS,
  extraInitContainers: OBJECTS,
  extraObjects: LIST,
};

/** Helm itself adds `global`. */
const VALUES: Json = {
  global: OBJECT,
  nameOverride: TEXT,
  fullnameOverride: TEXT,
  commonLabels: TABLE,
  existingConfigMap: TEXT,
  existingSecrets: TEXTS,
  rollOnConfigChange: { enum: ['restart', 'always', 'never'] },
  ...POD,
  ...EXPOSED,
  ...OPERATED,
};
