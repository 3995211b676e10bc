import { didYouMean } from '../../errors/did-you-mean.js';
import type { Path } from '../path.js';
import type { Report, Rule, View } from '../view.js';

/** Every referenced gate and runtime exists, once in a chain; an unreferenced one is a warning. */
export const references: Rule = (view, report) => {
  const used = new Set<string>();
  checkChain(view, report, ['listener', 'gates'], view.listener?.gates ?? [], used);
  for (const { at, route } of view.routes) {
    checkChain(view, report, [...at, 'gates'], route.gates, used);
    if (!view.runtimes.has(route.runtime)) {
      const names = [...view.runtimes.keys()];
      report.error([...at, 'runtime'], `no runtime has this name${didYouMean(route.runtime, names) || `; there ${are(names)}`}`);
    }
    for (const [index, gate] of route.gates.entries()) {
      if (view.listener?.gates.includes(gate)) report.error([...at, 'gates', index], 'this gate runs already, as one of listener.gates');
    }
  }
  if (view.listener === undefined) return;
  for (const name of view.gates.keys()) if (!used.has(name)) report.warn(['gates', name], 'no route and no listener uses this gate');
  const ends = new Set(view.routes.map(({ route }) => route.runtime));
  for (const name of view.runtimes.keys()) if (!ends.has(name)) report.warn(['runtimes', name], 'no route ends at this runtime');
};

function checkChain(view: View, report: Report, at: Path, chain: readonly string[], used: Set<string>): void {
  for (const [index, gate] of chain.entries()) {
    used.add(gate);
    const names = [...view.gates.keys()];
    if (!view.gates.has(gate)) report.error([...at, index], `no gate has this name${didYouMean(gate, names) || `; there ${are(names)}`}`);
    else if (chain.indexOf(gate) !== index) report.error([...at, index], 'this gate is in the chain already; a chain runs each gate once');
  }
}

function are(names: readonly string[]): string {
  return names.length === 0 ? 'are none' : `is ${names.slice(0, 20).join(', ')}`;
}
