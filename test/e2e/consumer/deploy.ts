import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseOutputs } from '../../../tools/local/deploy.ts';
import { awsVariables } from '../../../tools/local/emulator/aws-environment.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { runCdk } from '../../../tools/local/run-cdk.ts';
import type { Deployed } from '../deployment.ts';

/** Deploys the example beside the suite's deployment, and returns its outputs. */
export const deployConsumer = async ({ client, caFile }: Deployed): Promise<Record<string, string>> => {
  const { credentials, ...where } = client;
  const directory = await createRunDirectory('e2e-consumer', new Date());
  const outputsFile = join(directory, 'outputs.json');
  const app = `${process.execPath} ${join(import.meta.dirname, 'app.ts')}`;
  await runCdk({
    args: [
      ...['deploy', '--app', app, '--output', join(directory, 'cdk.out'), '--outputs-file', outputsFile],
      ...['--require-approval', 'never', '--method', 'direct'],
    ],
    problem: 'The consumer could not be deployed',
    directory,
    awsEnv: awsVariables({ ...where, ...credentials, caFile }),
  });
  return parseOutputs(await readFile(outputsFile, 'utf8'));
};
