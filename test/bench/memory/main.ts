/**
 * `npm run bench:memory [-- --mb <size>]`: the memory that reconcile-extraction needs for an answer of 20 MiB, by the
 * shape of its JSON. Each answer is read by the bundled function in a new process, over TLS from a local server that also
 * answers as AWS, and with the heap that Lambda gives Node at that size.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleFunctions } from '../../../infra/bundle/bundle-functions.ts';
import { functionsOf, synthesize } from '../../unit/infra/synth.ts';
import { lambdaVariables } from '../cold/compared-bundles.ts';
import { context, load, runNode } from '../cold/new-process.ts';
import { markdownTable } from '../markdown-table.ts';
import { answerBytes, answerShapes } from './answer-shapes.ts';
import { startProviderAndAws } from './provider-and-aws.ts';

const { values } = parseArgs({ options: { mb: { type: 'string' }, only: { type: 'string' } } });

type Measured = { readonly peakMB: number; readonly cpuSeconds: number };

const directory = await mkdtemp(join(tmpdir(), 'cosecha-bench-memory-'));
const services = await startProviderAndAws();
const certificate = join(directory, 'local.pem');

const reconcile = functionsOf(synthesize().template).get('reconcile-extraction');
/** The size in the template at its default settings, unless `--mb` names another. */
const memoryMB = Number(values.mb ?? reconcile?.properties.MemorySize);

const env: NodeJS.ProcessEnv = {
  ...lambdaVariables,
  ...reconcile?.variables,
  RESULTS_BUCKET: 'results',
  AWS_ENDPOINT_URL: services.endpoint,
  PROVIDER_BASE_URL: services.endpoint,
  NODE_EXTRA_CA_CERTS: certificate,
};

/** How often the process reconciles: one that lives on still has garbage of the answer before. */
const invocations = 3;

/**
 * The peak is of this process alone: after an exec, `maxRSS` of getrusage also counts the process that forked it.
 */
const scriptFor = (file: string): string => `${load(file)}
const body = JSON.stringify({ extractionId: 'extraction-1', cause: 'sweep' });
const event = { Records: [{ messageId: 'message', body }] };
(async () => {
  for (let count = 0; count < ${invocations}; count += 1) {
    const { batchItemFailures } = await handler(event, ${context});
    if (batchItemFailures.length > 0) process.exit(1);
  }
  const status = require('node:fs').readFileSync('/proc/self/status', 'utf8');
  const peakMB = Number(/VmHWM:\\s+(\\d+) kB/.exec(status)[1]) / 1024;
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  console.log(JSON.stringify({ peakMB, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 / ${invocations} }));
  process.exit();
})();`;

/**
 * Runs the function. `AWS_LAMBDA_FUNCTION_MEMORY_SIZE` sets both sizes of the heap in the bootstrap of Lambda's
 * runtimes for Node: a tenth for new objects, in two halves, and the rest for old ones.
 */
const measure = async (file: string): Promise<Measured | undefined> => {
  const young = Math.floor(memoryMB / 10);
  const heap = [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMB - young}`];
  // V8 ends the process at the limit of its heap.
  return runNode<Measured>(scriptFor(file), env, heap).catch(() => undefined);
};

try {
  await writeFile(certificate, services.certificate);
  const { code } = await bundleFunctions(join(directory, 'functions'));
  const rows: string[][] = [];
  for (const [name, answer] of [
    ['a status alone', () => Buffer.from('{"taskStatus":"RUNNING"}')],
    ...Object.entries(answerShapes),
  ] as const) {
    if (values.only !== undefined && !name.includes(values.only)) continue;
    services.answerWith(answer());
    const measured = await measure(join(code['reconcile-extraction'], 'index.js'));
    const stored = services.takeStored();
    rows.push([
      name,
      measured === undefined ? 'out of memory' : measured.peakMB.toFixed(0),
      measured === undefined ? '' : measured.cpuSeconds.toFixed(2),
      stored === undefined ? 'nothing' : stored === answer().byteLength ? 'as received' : `${stored} bytes`,
    ]);
  }
  console.log(
    `${answerBytes} bytes, a function of ${memoryMB} MB, Node ${process.version}, ${process.arch}.\n`,
  );
  console.log(markdownTable([['shape', 'peak RSS, MB', 'CPU, s', 'stored'], ...rows]));
} finally {
  await services.close();
  await rm(directory, { recursive: true });
}
