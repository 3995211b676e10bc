// A tool that asks before it acts. In revision 2026-07-28 the question is the answer and the client comes back; in older ones it
// is a request on the call's own stream. The handler is the same.
import { acceptedContent, defineServer, defineTool, elicit, Type } from 'portcullis/server';

const CONFIRM = { type: 'object', properties: { sure: { type: 'boolean', title: 'Really delete?' } }, required: ['sure'] };

const remove = defineTool({
  name: 'delete_branch',
  description: 'Deletes a branch, after the user has confirmed it.',
  input: Type.Object({ branch: Type.String() }),
  annotations: { destructiveHint: true },
  run({ branch }, context) {
    if (context.responses === undefined) {
      // `state` comes back sealed: no other caller, and no other arguments, can bring it.
      return context.inputRequired({ requests: { confirm: elicit(`Delete ${branch}?`, CONFIRM) }, state: { asked: branch } });
    }
    return acceptedContent(context.responses, 'confirm')?.sure === true ? `Deleted ${branch}.` : 'Nothing was deleted.';
  },
});

export const server = defineServer({ name: 'branches', version: '1.0.0', tools: [remove] });
