import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { openPrompt } from '../../src/cli/init/prompt.js';

describe('prompt', () => {
  it('takes one line a question, those that were typed ahead too', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const prompt = openPrompt(input, output);
    input.write('one\n two \n');
    assert.equal(await prompt.ask('1? '), 'one');
    assert.equal(await prompt.ask('2? '), 'two');
    setTimeout(() => input.write('three\n'), 5);
    assert.equal(await prompt.ask('3? '), 'three');
    assert.match(String(output.read()), /1\? [\s\S]*2\? [\s\S]*3\? /);
    prompt.close();
  });

  it('ends with the input', async () => {
    const input = new PassThrough();
    const prompt = openPrompt(input, new PassThrough());
    input.end('last\n');
    assert.equal(await prompt.ask('1? '), 'last');
    await assert.rejects(prompt.ask('2? '), { name: 'AbortError' });
  });
});
