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

/** `npm start`: the whole service on one machine, shown by each of its methods. The result is the exit code. */
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
    await demonstrateAndServe(run);
    return 0;
  } catch (error) {
    // Ctrl-C makes whatever was going on fail: that is no failure.
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

const demonstrateAndServe = async (run: Run): Promise<void> => {
  const { options, directory, show, signal, atEnd } = run;
  const system = await startLocalSystem(run);
  // Best effort: an emulator that has died has taken them along.
  atEnd(() => saveFunctionLogs(system.emulator, join(directory, 'functions.log')).catch(() => {}));
  const watch = await watchSystem(system, signal);
  await Promise.race([runDemo({ system, watch, show }, options.methods, signal), watch.failed]);
  if (options.once) return;
  await announce(run, system.emulator);
  await serve(system, watch, run);
};

/**
 * Leaves word for `npx cosecha --stage local`. Only of an emulator of our own, whose credentials open nothing else: who
 * named another in AWS_ENDPOINT_URL names it to the CLI likewise.
 */
const announce = async ({ atEnd }: Run, { pid, client }: LocalSystem['emulator']): Promise<void> => {
  if (pid === undefined) return;
  atEnd(() => removeLocalDeployment(repository, client));
  await writeLocalDeployment(repository, client);
};

/** Says how to go on, and shows whatever happens, until it is stopped. */
const serve = async (system: LocalSystem, watch: Watch, { show, signal, directory }: Run): Promise<void> => {
  const { emulator, api } = system;
  const lines = [
    '',
    'Outcomes by username; put one into the line below:',
    outcomesAsText(),
    '',
    'Start another extraction, and read it:',
    ...curlLines(emulator, api.base, { ...demoRequest, reference: 'by-curl' }),
    '',
    'Operate it, in another terminal: npx cosecha --stage local doctor',
    '',
    `Logs: ${directory} (those of the functions as soon as it is stopped)`,
    'Serving; Ctrl-C stops everything that was started.',
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

/** npm passes on the Ctrl-C that the terminal has sent to both of us: two within this time are one. */
const sameSignalMs = 1_000;

/** The first Ctrl-C or SIGTERM stops in order; a second one ends at once (the emulator ends with this process). */
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

/** A sentence for what we know can go wrong; for anything else all there is. */
const report = (error: unknown): void => {
  console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
};

main(process.argv.slice(2))
  .catch((error: unknown) => {
    report(error);
    return 1;
  })
  // What a cleanup left open (a keep-alive connection) must not keep us.
  .then((code) => process.exit(code));
