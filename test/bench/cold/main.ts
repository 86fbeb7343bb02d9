/** `npm run bench:cold`: the size and the load time of each function. */
import { deepStrictEqual } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { functionNames } from '../../../infra/lambda/function-names.ts';
import { shuffled } from '../../support/data/random.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import { markdownTable } from '../markdown-table.ts';
import { median, quantile } from '../quantile.ts';
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

/** The median of the measurements, and their interquartile range. */
type Spread = { readonly median: number; readonly quarter: number; readonly threeQuarters: number };

const spreadOf = (times: readonly number[]): Spread => ({
  median: median(times),
  quarter: quantile(times, 0.25),
  threeQuarters: quantile(times, 0.75),
});

const ratio = (one: Spread, other: Spread): string => (one.median / other.median).toFixed(2);
const milliseconds = (spread: Spread): string => spread.median.toFixed(1);
const half = ({ quarter, threeQuarters }: Spread): string =>
  `${quarter.toFixed(1)} to ${threeQuarters.toFixed(1)}`;

const compare = async ({ empty, floor, ordinary, functions }: Cases, aws: Aws): Promise<void> => {
  const loads = [empty, floor, ordinary, ...functions].map((of) => ({ of, ...loading(of) }));
  const webhook = functions[functionNames.indexOf('receive-webhook')] as Case;
  const first = [
    {
      name: 'receive-webhook: verified, recorded, woken',
      ...answering(webhook, delivery, aws, callsOfDelivery),
    },
    {
      name: '(b): one UpdateItem',
      ...answering(ordinary, { id: 'one' }, aws, ['DynamoDB_20120810.UpdateItem']),
    },
  ];
  await measure([...loads, ...first]);

  const [ofEmpty, , ofOrdinary] = loads.map(({ times }) => spreadOf(times)) as [Spread, Spread, Spread];
  const loadings = markdownTable([
    ['loading', 'bytes', 'median, ms', 'middle half, ms', 'ratio to (a)', 'ratio to (b)'],
    ...loads.map(({ of, times }) => {
      const spread = spreadOf(times);
      const ratios = [ratio(spread, ofEmpty), ratio(spread, ofOrdinary)];
      return [of.name, of.bytes.toLocaleString('en'), milliseconds(spread), half(spread), ...ratios];
    }),
  ]);
  const [, ofOrdinaryAnswer] = first.map(({ times }) => spreadOf(times)) as [Spread, Spread];
  const firstAnswers = markdownTable([
    ['from the start of the process to the first answer', 'median, ms', 'middle half, ms', 'ratio to (b)'],
    ...first.map(({ name, times }) => {
      const spread = spreadOf(times);
      return [name, milliseconds(spread), half(spread), ratio(spread, ofOrdinaryAnswer)];
    }),
  ]);
  console.log(`${loadings}\n\n${firstAnswers}`);
};

await runUntilStopped(async ({ atEnd, untilStopped }) => {
  console.log(`Node ${process.version}, ${process.arch}. ${rounds} rounds. Each round runs every line once, in a new process and in
random order, so that other load affects all alike. Loading is the time of require(), as Lambda loads an index.js.
A local server with TLS answers as AWS.
Target: receive-webhook at most 0.6 of (b).
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
