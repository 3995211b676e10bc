// Notes as resources: one list, one template, and subscribers who hear of changes.
import { createHub, defineServer, defineTool, Type } from 'portcullis/server';

const notes = new Map([['welcome', 'Hello.']]);
const changes = createHub({ updates: true });

const write = defineTool({
  name: 'write',
  description: 'Writes a note.',
  input: Type.Object({ id: Type.String({ pattern: '^[a-z]{1,20}$' }), text: Type.String({ maxLength: 10_000 }) }),
  run({ id, text }) {
    if (notes.size >= 1000 && !notes.has(id)) return { content: [{ type: 'text', text: 'There is no room.' }], isError: true };
    notes.set(id, text);
    changes.resourceUpdated(`note:${id}`);
    changes.resourceUpdated('notes:all');
    return { content: [{ type: 'resource_link', uri: `note:${id}`, name: id }] };
  },
});

export const server = defineServer({
  name: 'notes',
  version: '1.0.0',
  tools: [write],
  resources: [{ uri: 'notes:all', name: 'all', mimeType: 'text/plain', read: () => [...notes.keys()].join('\n') }],
  templates: [
    {
      uriTemplate: 'note:{id}',
      name: 'note',
      mimeType: 'text/plain',
      // Undefined: there is no such resource.
      read: ({ variables }) => notes.get(variables.id ?? ''),
    },
  ],
  completions: [{ template: 'note:{id}', argument: 'id', complete: ({ value }) => [...notes.keys()].filter((id) => id.startsWith(value)) }],
  changes,
});
