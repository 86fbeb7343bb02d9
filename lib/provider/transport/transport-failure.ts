/**
 * What is kept, as a `cause`, of a failure below HTTP: its name and code. Node hangs the bytes that it could not
 * parse on its error, and other clients quote a header that they could not send.
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
