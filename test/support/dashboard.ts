/** One expression of a Grafana dashboard, with the place where it stands. */
export interface DashboardExpression {
  readonly where: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** Every expression of a dashboard: of its panels and its annotations. */
export function dashboardExpressions(json: string): readonly DashboardExpression[] {
  const { panels, annotations } = JSON.parse(json) as {
    readonly panels: readonly Panel[];
    readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
  };
  return [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ where: name, expr })),
  ];
}
