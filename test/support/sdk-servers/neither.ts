// No server at all: what a module must not export.
export const server = 5;
