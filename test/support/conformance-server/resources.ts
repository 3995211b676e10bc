import type { ResourceDefinition, TemplateDefinition } from '../../../src/server.js';
import { PNG } from './feature.js';

export const RESOURCES: readonly ResourceDefinition[] = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain', read: () => 'Watched resource content' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png', read: () => Buffer.from(PNG, 'base64') },
];

export const TEMPLATES: readonly TemplateDefinition[] = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    mimeType: 'application/json',
    read: ({ variables: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  },
];
