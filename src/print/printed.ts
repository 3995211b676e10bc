import { builtins } from '../../gates/index.js';
import { printEditorSchema } from './editor-schema.js';
import { printErrors } from './errors.js';
import { printMetrics } from './metrics.js';
import { printReference } from './reference.js';
import { printValuesSchema } from './values-schema.js';

/** Every generated file of the repository by its path from the root. `npm run print` writes them, a test compares them. */
export function printedFiles(): Readonly<Record<string, string>> {
  return {
    'config/portcullis.schema.json': printEditorSchema(builtins),
    'config/REFERENCE.md': printReference(builtins),
    'deploy/helm/portcullis/values.schema.json': printValuesSchema(builtins),
    'docs/errors.md': printErrors(builtins),
    'docs/metrics.md': printMetrics(),
  };
}
