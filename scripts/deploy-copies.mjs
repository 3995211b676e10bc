// Files that have to stand in several places, because Helm and kustomize read nothing outside their own folder.
import { parse, stringify } from 'yaml';

/** Path from the root to text, made of deploy/prometheus/rules.yaml and deploy/grafana/dashboard.json. */
export function deployCopies(rules, dashboard) {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'portcullis' },
    spec: parse(rules),
  };
  return {
    'deploy/helm/portcullis/files/rules.yaml': rules,
    'deploy/helm/portcullis/files/dashboard.json': dashboard,
    'deploy/kustomize/components/alerts/prometheus-rule.yaml': `# Made of deploy/prometheus/rules.yaml by npm run print.\n${stringify(rule, { lineWidth: 0 })}`,
    'deploy/kustomize/components/dashboard/portcullis.json': dashboard,
  };
}
