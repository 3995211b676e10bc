import { Type } from 'typebox';
import { type Filled, section, text } from './fields.js';
import { GatesSchema } from './gates.js';
import { ListenerSchema } from './listener.js';
import { OpsSchema, ReloadSchema } from './ops.js';
import { RoutesSchema } from './routes.js';
import { RuntimesSchema } from './runtimes.js';
import { TelemetrySchema } from './telemetry.js';

/**
 * The whole configuration: the one source of validation, defaults, types, the editor's JSON Schema and REFERENCE.md.
 * A key with a default is `required` here and filled before it is looked for; the printed schema leaves it optional.
 */
export const ConfigSchema = section(
  {
    $schema: Type.Optional(text('Where editors find the JSON Schema; the gateway ignores it.')),
    listener: ListenerSchema,
    ops: OpsSchema,
    gates: GatesSchema,
    runtimes: RuntimesSchema,
    routes: RoutesSchema,
    telemetry: TelemetrySchema,
    reload: ReloadSchema,
  },
  { description: 'Configuration of Portcullis.' },
);

/** A loaded configuration: validated, every default filled, file names absolute, frozen. */
export type Config = Filled<typeof ConfigSchema>;
