// The server that the bench hosts in process: one tool with a schema, as real servers have.
import { defineServer } from 'portcullis/server';
import { ANSWER_TEXT } from './answer-text.js';

export const server = defineServer({
  name: 'bench',
  version: '1.0.0',
  tools: [
    {
      name: 'get_weather',
      description: 'The weather of a place.',
      input: {
        type: 'object',
        properties: { location: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] }, days: { type: 'integer', minimum: 1 } },
        required: ['location'],
        additionalProperties: false,
      },
      run: () => ANSWER_TEXT,
    },
  ],
});
