import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleFunctions } from '../../../infra/bundle/bundle-functions.ts';
import { functionNames } from '../../../infra/lambda/contracts.ts';
import { everyOption, functionsOf, synthesize } from '../../unit/infra/synth.ts';

/** A file to load, with its environment variables. */
export type Case = {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly environment: NodeJS.ProcessEnv;
};

export type Cases = {
  readonly ordinary: Case;
  readonly functions: readonly Case[];
};

/** A typical function: one DynamoDB write, bundled with esbuild's defaults. */
const ordinaryHandler = `
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
export const handler = async ({ id }) => {
  await client.send(new UpdateItemCommand({ TableName: 'table', Key: { id: { S: id } } }));
  return { statusCode: 204 };
};`;

/** The variables that Lambda sets for every function. */
export const lambdaVariables: NodeJS.ProcessEnv = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret-access-key-of-the-bench',
  AWS_SESSION_TOKEN: 'a-session-token-of-the-bench',
};

/** Bundles everything to compare, in a new directory. */
export const makeCases = async (directory: string): Promise<Cases> => {
  await mkdir(directory, { recursive: true });
  const caseOf = async (name: string, file: string, environment: NodeJS.ProcessEnv = {}): Promise<Case> => ({
    name,
    file,
    bytes: (await stat(file)).size,
    environment: { ...lambdaVariables, ...environment },
  });
  const ordinary = join(directory, 'ordinary.cjs');
  const contents = { contents: ordinaryHandler, resolveDir: import.meta.dirname };
  // The defaults, with fixed paths in esbuild's comments, because these count as bytes.
  const absWorkingDir = fileURLToPath(new URL('../../../', import.meta.url));
  await build({
    stdin: contents,
    absWorkingDir,
    bundle: true,
    platform: 'node',
    outfile: ordinary,
    logLevel: 'error',
  });
  const { code } = await bundleFunctions(join(directory, 'functions'));
  const deployed = functionsOf(synthesize(everyOption).template);
  const functions = await Promise.all(
    functionNames.map((name) => caseOf(name, join(code[name], 'index.js'), deployed.get(name)?.variables)),
  );
  return {
    ordinary: await caseOf("a DynamoDB handler, esbuild's defaults", ordinary),
    functions,
  };
};
