export const gate = {
  name: 'from-the-future',
  contract: 2,
  options: { type: 'object' },
  open: () => ({ decide: () => ({ kind: 'pass' }) }),
};
