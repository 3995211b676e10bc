/** True where two types are the same, `any` and optional members told apart. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only where both types are the same; does nothing. */
export function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [differs: { readonly expected: B; readonly found: A }]): void {}
