import { Type } from 'typebox';
import { type Filled, MAX_MS, named, section, text } from './fields.js';

const GateSchema = section(
  {
    use: text(
      "A built-in gate such as oauth-bearer; npm:PACKAGE, resolved from the config file's folder and never installed; or file:./gate.js.",
      { pattern: '^([a-z][a-z0-9-]*|npm:.+|file:.+)$', maxLength: 512 },
    ),
    timeout_ms: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_MS, description: 'How long this gate may take. Default: listener.limits.gate_timeout_ms.' }),
    ),
    options: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      default: {},
      description: "The gate's options, checked against the gate's schema.",
    }),
  },
  { description: 'One gate instance.' },
);

export const GatesSchema = named(GateSchema, 'Gates by a name of your choice; listeners and routes refer to the names.');

/** One entry of `gates`, every default filled. */
export type GateConfig = Filled<typeof GateSchema>;
