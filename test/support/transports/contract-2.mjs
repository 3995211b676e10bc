export const transport = { name: 'newer', contract: 2, open: () => ({}) };
