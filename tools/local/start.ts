import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { defined } from '../../lib/defined.ts';
import { connect } from '../cli/aws/deployment.ts';
import {
  claimLocalDeployment,
  refuseSecondDeployment,
  removeLocalDeployment,
} from '../cli/aws/local-deployment.ts';
import { serveConsoleOf } from '../cli/commands/console.ts';
import { commandTextOf } from '../cli/terminal/command-text.ts';
import { CliError, exitCodes, UsageError } from '../cli/terminal/errors.ts';
import { stopOnSignals } from '../cli/terminal/stop-on-signals.ts';
import { runDemo, watchSystem } from './demo.ts';
import { type LocalSystem, type Run, startLocalSystem } from './local-system.ts';
import { createRunDirectory, repository } from './paths.ts';
import { readStartOptions } from './read-start-options.ts';
import { createRunOutput } from './run-output.ts';
import { sandboxActions, sandboxState } from './sandbox-actions.ts';
import { saveFunctionLogs } from './save-function-logs.ts';

/** Ends the run in order where the reader of its output, such as `head`, has closed the pipe. What it still prints is dropped. */
const stopAtClosedPipe = (): void => {
  let isClosed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (!isClosed) process.kill(process.pid, 'SIGTERM');
    isClosed = true;
  });
};

/** `npm start`: runs the whole service on this machine and shows each method. Returns the exit code. */
const main = async (args: string[]): Promise<number> => {
  const options = readStartOptions(args);
  if (options === 'help') return 0;
  if (options.once !== true && !process.env.AWS_ENDPOINT_URL) await refuseSecondDeployment(repository);
  const signal = stopOnSignals();
  stopAtClosedPipe();
  const show = createRunOutput(process.stdout, Date.now);
  const directory = await createRunDirectory('start', new Date());
  const cleanups: (() => Promise<void>)[] = [];
  const run: Run = {
    directory,
    show,
    signal,
    ...defined({ port: options.port }),
    atEnd: (cleanup) => cleanups.push(cleanup),
  };
  try {
    await runDemoAndServe(run, options.once === true);
    return 0;
  } catch (error) {
    // Ctrl-C aborts the current step. That is no failure to report, but the demo has not ended either.
    if (signal.aborted) return exitCodes.interrupted;
    show.rest();
    report(error);
    return 1;
  } finally {
    show.rest();
    for (const cleanup of cleanups.reverse()) await cleanup().catch(report);
    show.plain(`Stopped. Logs: ${directory}`);
  }
};

const runDemoAndServe = async (run: Run, stopAfterDemo: boolean): Promise<void> => {
  const { directory, show, signal, atEnd } = run;
  const system = await startLocalSystem(run);
  // Best effort, as an emulator that crashed has lost them.
  atEnd(() => saveFunctionLogs(system.emulator, join(directory, 'functions.log')).catch(() => {}));
  const demoEnds = new AbortController();
  const { failed } = await watchSystem(system, show, signal, AbortSignal.any([signal, demoEnds.signal]));
  await Promise.race([runDemo(system, show, signal), failed]);
  demoEnds.abort();
  if (!stopAfterDemo) await Promise.race([serve(system, run), failed]);
};

/**
 * Writes the address and credentials of the emulator for `cosecha --stage local`, but only of one that was started
 * here, as its credentials are valid nowhere else.
 */
const publishDeployment = async (
  { atEnd }: Run,
  { emulator: { pid, client }, provider, api }: LocalSystem,
): Promise<void> => {
  const { endpoint, region, credentials } = client;
  const { accessKeyId, secretAccessKey } = credentials;
  if (pid === undefined) return;
  await claimLocalDeployment(repository, {
    pid: process.pid,
    endpoint,
    region,
    // The SDK has added fields of its own to the object.
    credentials: { accessKeyId, secretAccessKey },
    apiUrl: api.base,
    sandboxControlUrl: provider.controlUrl,
  });
  atEnd(() => removeLocalDeployment(repository, client));
};

/** Serves the console of the local stage, with every action and the panel of the sandbox. Returns its address. */
const serveLocalConsole = async (system: LocalSystem, { show, atEnd }: Run): Promise<string> => {
  const { client } = system.emulator;
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client });
  const print = (lines: string | readonly string[]): void => {
    for (const line of [lines].flat()) show.note('console', line);
  };
  const { url, close } = await serveConsoleOf(deployment, {
    port: 0,
    allowed: true,
    more: sandboxActions({ ...system, report: print }),
    sandboxState: () => sandboxState(system),
    shell: {
      hint: print,
      fail: print,
      now: () => new Date(),
      sleep: (milliseconds) => delay(milliseconds, undefined, { ref: false }),
    },
  });
  atEnd(close);
  return url;
};

const serve = async (system: LocalSystem, run: Run): Promise<void> => {
  const { show, signal, directory } = run;
  await publishDeployment(run, system);
  const address = await serveLocalConsole(system, run);
  const lines = [
    '',
    `Operate it from another terminal: ${commandTextOf({ stage: LOCAL_STAGE })('doctor')}`,
    `ApiUrl: ${system.api.base} (docs/api.md has a first request for curl and for Python)`,
    'The console starts extractions of each outcome, and makes the provider misbehave.',
    `Logs: ${directory}`,
    'Running. Ctrl-C stops everything.',
    `Open the console: ${address}`,
    '',
  ];
  show.plain(lines.join('\n'));
  if (!signal.aborted) await once(signal, 'abort');
};

/** Prints the sentences of an expected failure, and everything about any other error. */
const report = (error: unknown): void => {
  console.error(error instanceof CliError ? `\n${error.message}\n` : error);
};

main(process.argv.slice(2))
  .catch((error: unknown) => {
    report(error);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  })
  // An open keep-alive connection would otherwise delay the end of the process.
  .then((code) => process.exit(code));
