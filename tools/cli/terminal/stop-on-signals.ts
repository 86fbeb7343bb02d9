/** npm and npx forward the Ctrl-C that the terminal has sent to this process already. Two signals within this time are one. */
const sameSignalMs = 1_000;

/** Aborts at the first Ctrl-C or SIGTERM, so that the process can end in order. A second one ends it at once. */
export const stopOnSignals = (): AbortSignal => {
  const stop = new AbortController();
  let first: number | undefined;
  const onSignal = () => {
    first ??= Date.now();
    stop.abort();
    if (Date.now() - first > sameSignalMs) process.exit(130);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return stop.signal;
};
