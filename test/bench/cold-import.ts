import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Ratio } from './ratio.ts';
import { webhookBundle } from './webhook-bundle.ts';

const run = promisify(execFile);

/** 30 of each, in turns: what else the machine does then weighs on all alike. */
const rounds = 30;

/** What most people would deploy: one DynamoDB write, bundled with esbuild's defaults. */
const ordinaryHandler = `
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
export const handler = async ({ id }) => {
  await client.send(new UpdateItemCommand({ TableName: 'table', Key: { id: { S: id } } }));
  return { statusCode: 204 };
};`;

/** The least that anything calling AWS has to load: Node's own HTTPS and cryptography. */
const floor = "import 'node:https';import 'node:crypto';";

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Milliseconds that a new process of this Node takes to import a file. */
const importOnce = async (file: string, environment: NodeJS.ProcessEnv): Promise<number> => {
  const script = `const since = performance.now(); import(${JSON.stringify(file)}).then(() => console.log(performance.now() - since))`;
  const { stdout } = await run(process.execPath, ['--eval', script], { env: environment });
  return Number(stdout);
};

/** How long the webhook's bundle takes to load in a new process, beside an ordinary function and the floor. */
export const compareColdImport = async (): Promise<readonly Ratio[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-bench-'));
  try {
    const ordinary = join(directory, 'ordinary.cjs');
    const contents = { contents: ordinaryHandler, resolveDir: import.meta.dirname };
    await build({ stdin: contents, bundle: true, platform: 'node', outfile: ordinary, logLevel: 'error' });
    const least = join(directory, 'floor.mjs');
    await writeFile(least, floor);
    const webhook = webhookBundle(join(directory, 'cdk.out'));

    const environment = { AWS_REGION: 'eu-west-1', ...webhook.environment };
    const times: Record<'ours' | 'ordinary' | 'least', number[]> = { ours: [], ordinary: [], least: [] };
    for (let round = 0; round < rounds; round += 1) {
      times.ours.push(await importOnce(webhook.file, environment));
      times.ordinary.push(await importOnce(ordinary, environment));
      times.least.push(await importOnce(least, environment));
    }
    const against = median(times.ordinary);
    return [
      {
        what: "cold import of the webhook's bundle, against an ordinary DynamoDB function (time)",
        ratio: median(times.ours) / against,
        wanted: '≤ 0.5',
      },
      {
        what: 'the same for nothing but node:https and node:crypto: no bundle can do better',
        ratio: median(times.least) / against,
      },
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
};
