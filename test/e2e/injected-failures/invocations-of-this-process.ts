import readline from 'node:readline';

/** The line of JSON with which the emulator invokes a function's process. */
export type Invocation = {
  readonly event: unknown;
  readonly ctx?: { readonly request_id?: string };
};

/**
 * Calls `onLine` with each invocation of this process, before the handler gets it. The emulator writes an invocation to
 * its worker as a line of JSON, after a first line that names the function (ministack/core/lambda_runtime.py). A process
 * has one invocation at a time.
 */
export const listenToInvocations = (onLine: (line: string) => void): void => {
  const { createInterface } = readline;
  readline.createInterface = ((...args: Parameters<typeof createInterface>) => {
    const lines = createInterface(...args);
    lines.on('line', onLine);
    return lines;
  }) as typeof createInterface;
};
