export const gates = [];
