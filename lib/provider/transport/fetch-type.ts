/**
 * The part of the Fetch standard that the client needs. `globalThis.fetch` has this type, but must not start tasks (see
 * `freshConnectionFetch`).
 */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  /** Without headers, a `Retry-After` is not seen. */
  readonly headers?: { get(name: string): string | null };
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}>;
