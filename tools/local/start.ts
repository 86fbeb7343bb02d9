import { join } from 'node:path';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { outcomesAsText } from '../../test/sandbox/print-outcomes.ts';
import {
  claimLocalDeployment,
  type LocalDeployment,
  removeLocalDeployment,
} from '../cli/aws/local-deployment.ts';
import { exitCodes } from '../cli/terminal/exit-codes.ts';
import { stopOnSignals } from '../cli/terminal/stop-on-signals.ts';
import { curlLines, planLines } from './demo/curl-lines.ts';
import { describeLogLine } from './demo/describe-log-line.ts';
import { type Description, describeSystemEvent } from './demo/describe-system-event.ts';
import { nameExtractions } from './demo/name-extractions.ts';
import { demoRequest, runDemo } from './demo/run-demo.ts';
import { createRunOutput } from './demo/run-output.ts';
import { type Watch, watchSystem } from './demo/watch-system.ts';
import { ExpectedFailure } from './expected-failure.ts';
import { followFunctionLogs } from './follow-function-logs.ts';
import { type LocalSystem, type Run, startLocalSystem } from './local-system.ts';
import { createRunDirectory, repository } from './paths.ts';
import { type LogLine, readFunctionLogs } from './read-function-logs.ts';
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

const runDemoAndServe = async (run: Run): Promise<void> => {
  const { options, directory, show, signal, atEnd } = run;
  const system = await startLocalSystem(run);
  const logFile = join(directory, 'functions.log');
  // Best effort, as an emulator that crashed has lost them.
  let save = () => saveFunctionLogs(system.emulator, logFile);
  atEnd(() => save().catch(() => {}));
  const watch = await watchSystem(system, signal);
  await Promise.race([runDemo({ system, watch, show }, options.methods, signal), watch.failed]);
  if (options.once) return;
  const operate = await publishDeployment(run, system);
  // `serve` follows them from here on.
  save = async () => {};
  await serve({ system, watch, operate, logFile }, run);
};

/** How to address this deployment from another terminal. */
const cliLine = ({ endpoint, region, credentials }: LocalDeployment): string =>
  `AWS_ENDPOINT_URL=${endpoint} AWS_REGION=${region} AWS_ACCESS_KEY_ID=${credentials.accessKeyId} ` +
  `AWS_SECRET_ACCESS_KEY=${credentials.secretAccessKey} npx cosecha --stage local doctor`;

/**
 * Writes the address and credentials of the emulator for `npx cosecha --stage local`, but only of one that was started
 * here, as its credentials are valid nowhere else. Returns lines on how to operate this deployment.
 */
const publishDeployment = async (
  { atEnd }: Run,
  { emulator: { pid, client }, provider }: LocalSystem,
): Promise<readonly string[]> => {
  const { endpoint, region, credentials } = client;
  const { accessKeyId, secretAccessKey } = credentials;
  if (pid === undefined) return ['Operate it from another terminal: npx cosecha --stage local doctor'];
  const other = await claimLocalDeployment(repository, {
    endpoint,
    region,
    // The SDK has added fields of its own to the object.
    credentials: { accessKeyId, secretAccessKey },
    sandboxControlUrl: provider.controlUrl,
  });
  if (other !== undefined) {
    return [
      `Another npm start of this checkout serves at ${other.endpoint}, and npx cosecha --stage local goes to that one.`,
      `Operate this one from another terminal: ${cliLine(client)}`,
    ];
  }
  atEnd(() => removeLocalDeployment(repository, client));
  return ['Operate it from another terminal: npx cosecha --stage local doctor'];
};

type Served = {
  readonly system: LocalSystem;
  readonly watch: Watch;
  readonly operate: readonly string[];
  readonly logFile: string;
};

/** Prints what to try next, and then every event until Ctrl-C. */
const serve = async (served: Served, run: Run): Promise<void> => {
  const { system, watch, operate, logFile } = served;
  const { show, signal, directory } = run;
  const { emulator, api, provider } = system;
  const address = await serveLocalConsole(system, run);
  const lines = [
    '',
    'Outcomes of the sandbox, by username. Use any of them in the request below:',
    outcomesAsText(),
    '',
    'Start another extraction and read it. (The emulator checks no signature; AWS answers 403 to a wrong or unknown key.)',
    ...curlLines(emulator, api.base, { ...demoRequest, reference: 'by-curl' }),
    '',
    `Make the provider misbehave for the usernames hang, drop and forge (docs/sandbox.md; control: ${provider.controlUrl}):`,
    ...planLines(provider.controlUrl),
    '',
    ...operate,
    '',
    `Logs: ${directory}. To follow the functions: tail -f ${logFile}`,
    'Running. Ctrl-C stops everything. Each line below names its extraction by the end of its id.',
    `Open the console: ${address}`,
    '',
  ];
  show.plain(lines.join('\n'));
  const nameOf = nameExtractions();
  const print = (description: Description | undefined, name = '') => {
    if (description) show.note(description.subject, `${name.padEnd(8)}  ${description.text}`);
  };
  watch.on('event', (event) => print(describeSystemEvent(event), nameOf(event)));
  const readLogs = readFunctionLogs(new CloudWatchLogsClient(emulator.client));
  const since = Date.now();
  const showLine = ({ timestamp, message }: LogLine) => {
    // The first read has the lines of the demo too.
    if (timestamp < since) return;
    const description = describeLogLine(message);
    print(description, description?.name);
  };
  const following = followFunctionLogs(readLogs, logFile, showLine, signal);
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => stopped.resolve());
  await Promise.race([stopped.promise, watch.failed]);
  await following;
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
