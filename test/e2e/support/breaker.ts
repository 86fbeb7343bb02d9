import {
  GetFunctionConfigurationCommand,
  ListFunctionsCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { inject } from 'vitest';
import { dynamoBreakerStore } from '../../../lib/aws/dynamo-breaker-store.ts';
import { type BreakerName, type BreakerSettings, closedBreaker } from '../../../lib/breaker/breaker-state.ts';
import { aws } from './aws.ts';

const store = dynamoBreakerStore(aws.dynamo, inject('cosecha').outputs.BreakersTableName ?? '');

export const breakerState = async (name: BreakerName) => (await store.read(name)).state;

/** The functions that have breakers. */
const functionNames = async (): Promise<readonly string[]> => {
  const { Functions = [] } = await aws.lambda.send(new ListFunctionsCommand({ MaxItems: 50 }));
  return Functions.flatMap(({ FunctionName = '', Environment }) =>
    Environment?.Variables?.BREAKER === undefined ? [] : [FunctionName],
  );
};

/** Changes their settings. The next invocation is in a new process, as on AWS. */
const configure = async (name: string, breaker: string): Promise<void> => {
  const { Environment } = await aws.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  const Variables = { ...Environment?.Variables, BREAKER: breaker };
  await aws.lambda.send(
    new UpdateFunctionConfigurationCommand({ FunctionName: name, Environment: { Variables } }),
  );
};

const settingsOf = async (name: string): Promise<string> => {
  const { Environment } = await aws.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  return Environment?.Variables?.BREAKER ?? '';
};

/** Closes a breaker, whatever is stored. */
const reset = async (name: BreakerName): Promise<void> => {
  const stored = await store.read(name);
  if (stored.version !== undefined)
    await store.replace(name, stored, { state: closedBreaker, version: 'reset' });
};

/** Runs `work` with these settings of the breakers, which all other tests keep closed (test/e2e/windows.ts). */
export const withBreakers = async <T>(settings: BreakerSettings, work: () => Promise<T>): Promise<T> => {
  const names = await functionNames();
  if (names.length === 0) throw new Error('No function has a breaker.');
  const before = new Map(
    await Promise.all(names.map(async (name) => [name, await settingsOf(name)] as const)),
  );
  await Promise.all([reset('starts'), reset('reads')]);
  for (const name of names) await configure(name, JSON.stringify(settings));
  try {
    return await work();
  } finally {
    for (const [name, breaker] of before) await configure(name, breaker);
    await Promise.all([reset('starts'), reset('reads')]);
  }
};
