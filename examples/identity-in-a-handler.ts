// Who calls is what the gates found, never what the message says. Scopes and a policy decide what a caller sees at all.
import { defineServer, defineTool, Type } from 'portcullis/server';

const balances = new Map([['alice', 12]]);

const balance = defineTool({
  name: 'balance',
  description: 'Your own balance.',
  input: Type.Object({}),
  run: (_input, { identity }) => String(balances.get(identity?.principal ?? '') ?? 0),
});

const adjust = defineTool({
  name: 'adjust',
  description: 'Sets somebody’s balance.',
  input: Type.Object({ who: Type.String(), amount: Type.Integer() }),
  // Without the scope the tool is in no list, and a call answers as if it did not exist.
  scopes: ['balances.write'],
  run({ who, amount }) {
    balances.set(who, amount);
    return 'Done.';
  },
});

export const server = defineServer({
  name: 'balances',
  version: '1.0.0',
  tools: [balance, adjust],
  policy: (identity) => identity !== undefined,
});
