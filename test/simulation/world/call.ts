/** A failure of a dependency of ours, whatever it was. */
export class DependencyDown extends Error {
  override readonly name = 'DependencyDown';
}

/** An answer that is an error, and comes only after a time. */
export type Late = { readonly after: number; readonly error: Error };

export const isLate = (value: unknown): value is Late =>
  typeof value === 'object' && value !== null && 'after' in value && 'error' in value;

/** What else a dependency may answer, beside what it answers by itself. `take` may throw that answer. */
export type OtherAnswer<T> = { readonly name: string; readonly take: () => T | Late };

/** A call of a dependency. Its effect takes place at one moment, or never, or twice. */
export type Call<T> = {
  /** In a few words, for a trace. */
  readonly name: string;
  /** `read` changes nothing; `once` is a write that nobody sends twice by itself, `write` one that the SDK does. */
  readonly kind: 'read' | 'write' | 'once';
  readonly take: () => T | Late;
  readonly failure?: () => Error;
  readonly others?: readonly OtherAnswer<T>[];
};
