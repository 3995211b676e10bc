import { Type } from 'typebox';
import { type Filled, flag, list, section, text } from './fields.js';

const ForwardIdentitySchema = section(
  {
    header: text("Header field that carries the caller's identity. The client's own copy is never passed on.", {
      format: 'identity-header',
      maxLength: 128,
    }),
  },
  {
    description:
      'Tell the upstream who calls. Its 403 with a JSON-RPC error of the call’s id then judges the caller and is relayed; without this it is 502 UPSTREAM_REFUSED.',
  },
);

const RouteSchema = section(
  {
    path: text(
      'The exact path, letter for letter; for a runtime of kind http the prefix. No encoded, doubled or dotted spelling ever matches.',
      {
        format: 'route-path',
        maxLength: 1024,
      },
    ),
    gates: list(text('A name of the gates section.'), 'Gates that run before the body is read, in this order.', 32),
    runtime: text('A name of the runtimes section.'),
    public: flag(false, 'true: callers need no identity. A route without gates must say so.'),
    public_url: Type.Optional(
      text('The whole URL that clients dial for this route. Default: listener.public_url followed by path.', { format: 'dialed-url' }),
    ),
    sse: flag(
      false,
      'true: clients that speak only the HTTP+SSE transport of revision 2024-11-05 are served too: GET of the path followed by /sse is their event stream, and POST of the path followed by /sse/message takes their messages. The gates run on both. A stream lives in one process, so with several replicas send a caller to the same one.',
    ),
    forward_identity: Type.Optional(ForwardIdentitySchema),
  },
  { description: 'One path and what stands behind it.' },
);

export const RoutesSchema = Type.Array(RouteSchema, { minItems: 1, maxItems: 256, description: 'What is served, and who may call it.' });

/** One entry of `routes`, every default filled. */
export type RouteConfig = Filled<typeof RouteSchema>;
