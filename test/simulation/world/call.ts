/** Any failure of a dependency other than the provider. */
export class DependencyDown extends Error {
  override readonly name = 'DependencyDown';
}

/** An error that is thrown only after some seconds. */
export type Late = { readonly after: number; readonly error: Error };

export const isLate = (value: unknown): value is Late =>
  typeof value === 'object' && value !== null && 'after' in value && 'error' in value;

/** Another possible answer of a dependency. `take` returns or throws it. */
export type OtherAnswer<T> = { readonly name: string; readonly take: () => T | Late };

/** A call of a dependency. It takes effect at one moment, or never, or twice. */
export type Call<T> = {
  /** For traces. */
  readonly name: string;
  /** `read` has no effect. The SDK may repeat a `write`. Nothing repeats a `once`. */
  readonly kind: 'read' | 'write' | 'once';
  readonly take: () => T | Late;
  readonly failure?: () => Error;
  readonly others?: readonly OtherAnswer<T>[];
};
