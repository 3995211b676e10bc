export const transport = new Proxy(
  {},
  {
    get() {
      throw null;
    },
  },
);
