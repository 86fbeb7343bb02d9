/** `npm run bench:cold`: the size and the load time of each function. */
import { deepStrictEqual } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { functionNames } from '../../../infra/lambda/contracts.ts';
import { shuffled } from '../../support/data/random.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import { markdownTable } from '../markdown-table.ts';
import { quartiles } from '../quartiles.ts';
import { type AwsStub, startAwsStub } from './aws-stub.ts';
import { type Case, type Cases, makeCases } from './compared-bundles.ts';
import { answerDelivery, callsOfDelivery, delivery } from './delivery-fixture.ts';
import { answerOnce, loadOnce } from './new-process.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' } } });
const rounds = Number(values.rounds);

/** The stub, and the environment variables that direct a process to it. */
type Aws = { readonly stub: AwsStub; readonly environment: NodeJS.ProcessEnv };

type Measurement = { readonly run: () => Promise<number>; readonly times: number[] };

const loading = ({ file, environment }: Case): Measurement => ({
  run: () => loadOnce(file, environment),
  times: [],
});

/** Throws if the handler made other calls to AWS or did not answer 204, because then something else was measured. */
const answering = (
  { file, environment }: Case,
  event: object,
  aws: Aws,
  calls: readonly string[],
): Measurement => ({
  run: async () => {
    const answered = await answerOnce(file, event, { ...environment, ...aws.environment });
    deepStrictEqual(answered.answer, { statusCode: 204 });
    deepStrictEqual(
      aws.stub.take().map(({ target }) => target),
      calls,
    );
    return answered.answering;
  },
  times: [],
});

const measure = async (measurements: readonly Measurement[]): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    for (const { run, times } of shuffled(measurements, Math.random)) {
      times.push(await run());
    }
  }
};

/** The median of the measurements, their interquartile range, and the ratio of their median to another. */
const figuresOf = (times: readonly number[], other: readonly number[]): readonly string[] => {
  const [lower, median, upper] = quartiles(times);
  const [, ofOther] = quartiles(other);
  return [median.toFixed(1), `${lower.toFixed(1)} to ${upper.toFixed(1)}`, (median / ofOther).toFixed(2)];
};

const compare = async ({ ordinary, functions }: Cases, aws: Aws): Promise<void> => {
  const measured = (of: Case) => ({ of, ...loading(of) });
  const ofOrdinary = measured(ordinary);
  const loads = [ofOrdinary, ...functions.map(measured)];
  const webhook = functions[functionNames.indexOf('receive-webhook')] as Case;
  const ofDelivery = answering(webhook, delivery, aws, callsOfDelivery);
  const ofUpdate = answering(ordinary, { id: 'one' }, aws, ['DynamoDB_20120810.UpdateItem']);
  await measure([...loads, ofDelivery, ofUpdate]);

  const loadings = markdownTable([
    ['loading', 'bytes', 'median, ms', 'middle half, ms', 'ratio'],
    ...loads.map(({ of, times }) => [
      of.name,
      of.bytes.toLocaleString('en'),
      ...figuresOf(times, ofOrdinary.times),
    ]),
  ]);
  const firstAnswers = markdownTable([
    ['from the start of the process to the first answer', 'median, ms', 'middle half, ms', 'ratio'],
    ['receive-webhook: verified, recorded, woken', ...figuresOf(ofDelivery.times, ofUpdate.times)],
    ['the DynamoDB handler: one UpdateItem', ...figuresOf(ofUpdate.times, ofUpdate.times)],
  ]);
  console.log(`${loadings}\n\n${firstAnswers}`);
};

await runUntilStopped(async ({ atEnd, untilStopped }) => {
  console.log(`Node ${process.version}, ${process.arch}. ${rounds} rounds. Each round runs every line once, in a new process and in
random order, so that other load affects all alike. Loading is the time of require(), as Lambda loads an index.js.
A local server with TLS answers as AWS.
Target: receive-webhook at most 0.6 of the DynamoDB handler.
`);
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-bench-cold-'));
  atEnd(() => rm(directory, { recursive: true }));
  const stub = await startAwsStub(answerDelivery);
  atEnd(() => stub.close());
  const certificate = join(directory, 'aws.pem');
  await writeFile(certificate, stub.certificate);
  const environment = { AWS_ENDPOINT_URL: stub.endpoint, NODE_EXTRA_CA_CERTS: certificate };
  await untilStopped(compare(await makeCases(directory), { stub, environment }));
});
