import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { parseOutputs } from '../../../tools/local/deploy.ts';
import { awsVariables } from '../../../tools/local/emulator/aws-environment.ts';
import { createRunDirectory, repository } from '../../../tools/local/paths.ts';
import { runCdk } from '../../../tools/local/run-cdk.ts';

type AppOptions = { readonly file: string; readonly cwd?: string; readonly context?: readonly string[] };

/** Deploys the CDK app of a file beside the suite's deployment, and returns the outputs of its stacks. */
export const deployApp = async (
  name: string,
  { file, cwd = repository, context = [] }: AppOptions,
): Promise<Record<string, string>> => {
  const { client, caFile } = inject('cosecha');
  const { credentials, ...where } = client;
  const directory = await createRunDirectory(name, new Date());
  const outputsFile = join(directory, 'outputs.json');
  await runCdk({
    args: [
      'deploy',
      '--app',
      `${process.execPath} ${file}`,
      '--output',
      join(directory, 'cdk.out'),
      '--outputs-file',
      outputsFile,
      '--require-approval',
      'never',
      '--method',
      'direct',
      ...context.flatMap((setting) => ['--context', setting]),
    ],
    problem: `The app ${file} could not be deployed`,
    cwd,
    directory,
    awsEnv: awsVariables({ ...where, ...credentials, caFile }),
  });
  return parseOutputs(await readFile(outputsFile, 'utf8'));
};
