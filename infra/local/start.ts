import { join } from 'node:path';
import { removeLocalDeployment, writeLocalDeployment } from '../../lib/cli/local-deployment.ts';
import { outcomesAsText } from '../../test/sandbox/print-outcomes.ts';
import { curlLines } from './demo/curl-lines.ts';
import { describeSystemEvent } from './demo/describe-system-event.ts';
import { demoRequest, runDemo } from './demo/run-demo.ts';
import { createRunOutput } from './demo/run-output.ts';
import { type Watch, watchSystem } from './demo/watch-system.ts';
import { ExpectedFailure } from './expected-failure.ts';
import { type LocalSystem, type Run, startLocalSystem } from './local-system.ts';
import { createRunDirectory, repository } from './paths.ts';
import { readOptions, usage } from './read-options.ts';
import { saveFunctionLogs } from './save-function-logs.ts';
import { serveLocalConsole } from './serve-console.ts';

/** `npm start`: runs the whole service on this machine and shows each method. Returns the exit code. */
const main = async (args: string[]): Promise<number> => {
  const options = readOptions(args);
  if (options === 'help') {
    console.log(usage);
    return 0;
  }
  const signal = stopOnSignals();
  const show = createRunOutput(process.stdout, Date.now);
  const directory = await createRunDirectory('start', new Date());
  const cleanups: (() => Promise<void>)[] = [];
  const run: Run = { options, directory, show, signal, atEnd: (cleanup) => cleanups.push(cleanup) };
  try {
    await runDemoAndServe(run);
    return 0;
  } catch (error) {
    // Ctrl-C aborts the current step, which is not a failure.
    if (signal.aborted) return 0;
    show.rest();
    report(error);
    return 1;
  } finally {
    show.rest();
    for (const cleanup of cleanups.reverse()) await cleanup().catch(report);
    show.plain(`Stopped. Logs: ${directory}`);
  }
};

const runDemoAndServe = async (run: Run): Promise<void> => {
  const { options, directory, show, signal, atEnd } = run;
  const system = await startLocalSystem(run);
  // Best effort, as an emulator that crashed has lost them.
  atEnd(() => saveFunctionLogs(system.emulator, join(directory, 'functions.log')).catch(() => {}));
  const watch = await watchSystem(system, signal);
  await Promise.race([runDemo({ system, watch, show }, options.methods, signal), watch.failed]);
  if (options.once) return;
  await publishDeployment(run, system.emulator);
  await serve(system, watch, run);
};

/**
 * Writes the address and credentials of the emulator for `npx cosecha --stage local`, but only of one that was started
 * here, as its credentials are valid nowhere else. For another, the CLI needs AWS_ENDPOINT_URL too.
 */
const publishDeployment = async ({ atEnd }: Run, { pid, client }: LocalSystem['emulator']): Promise<void> => {
  if (pid === undefined) return;
  atEnd(() => removeLocalDeployment(repository, client));
  await writeLocalDeployment(repository, client);
};

/** Prints what to try next, and then every event until Ctrl-C. */
const serve = async (system: LocalSystem, watch: Watch, run: Run): Promise<void> => {
  const { show, signal, directory } = run;
  const { emulator, api } = system;
  const address = await serveLocalConsole(system, run);
  const lines = [
    '',
    'Outcomes of the sandbox, by username. Use any of them in the request below:',
    outcomesAsText(),
    '',
    'Start another extraction and read it:',
    ...curlLines(emulator, api.base, { ...demoRequest, reference: 'by-curl' }),
    '',
    'Operate it from another terminal: npx cosecha --stage local doctor',
    '',
    `Logs: ${directory} (logs of the functions are written when you stop)`,
    'Running. Ctrl-C stops everything.',
    `Open the console: ${address}`,
    '',
  ];
  show.plain(lines.join('\n'));
  watch.on('event', (event) => {
    const description = describeSystemEvent(event);
    if (description) show.note(description.subject, description.text);
  });
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => stopped.resolve());
  await Promise.race([stopped.promise, watch.failed]);
};

/** The terminal sends Ctrl-C to npm and to this process, and npm forwards it. Two signals within this time are one. */
const sameSignalMs = 1_000;

/** The first Ctrl-C or SIGTERM runs the cleanups. A second one ends the process, and the emulator with it, at once. */
const stopOnSignals = (): AbortSignal => {
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

/** Prints the sentence of an expected failure, and everything about any other error. */
const report = (error: unknown): void => {
  console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
};

main(process.argv.slice(2))
  .catch((error: unknown) => {
    report(error);
    return 1;
  })
  // An open keep-alive connection would otherwise delay the end of the process.
  .then((code) => process.exit(code));
