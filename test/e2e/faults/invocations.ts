import readline from 'node:readline';

/** How the emulator hands a function's process what it is invoked with. */
export type Invocation = {
  readonly event: unknown;
  readonly ctx?: { readonly request_id?: string };
};

/**
 * Calls `onLine` with what this process is invoked with, before the handler gets it. The emulator hands each
 * invocation to its worker as a line of JSON, after a first one that names the function
 * (ministack/core/lambda_runtime.py). A function's process has one invocation at a time.
 */
export const listenToInvocations = (onLine: (line: string) => void): void => {
  const { createInterface } = readline;
  readline.createInterface = ((...args: Parameters<typeof createInterface>) => {
    const lines = createInterface(...args);
    lines.on('line', onLine);
    return lines;
  }) as typeof createInterface;
};
