/**
 * The `cause` for a failure below HTTP. It keeps only name and code. Node attaches unparsed bytes to its errors, and
 * other clients quote a header.
 */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly code: string | undefined;

  constructor(error: unknown) {
    const { name, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { name: typeof error };
    super(code ?? name);
    this.code = code;
  }
}
