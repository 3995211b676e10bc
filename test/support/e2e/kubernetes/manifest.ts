import { parseAllDocuments } from 'yaml';

/** One Kubernetes object as it was rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests look at.
  readonly spec?: any;
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads a YAML stream of Kubernetes objects; a document that is broken throws, an empty one is left out. */
export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (!('errors' in document)) return [];
    if (document.errors.length > 0) throw document.errors[0];
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

/** The one object of a kind, by a part of its name where there are several. */
export function theOnly(manifests: readonly Manifest[], kind: string, name = /^/): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && name.test(manifest.metadata.name));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} objects of kind ${kind} with a name like ${name}`);
  return found[0];
}
