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

type Variables = Readonly<Record<string, string>>;

const variablesOf = async (name: string): Promise<Variables> => {
  const { Environment } = await aws.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  return Environment?.Variables ?? {};
};

/** Replaces the environment. The next invocation is in a new process, as on AWS. */
const configure = async (name: string, Variables: Variables): Promise<void> => {
  await aws.lambda.send(
    new UpdateFunctionConfigurationCommand({ FunctionName: name, Environment: { Variables } }),
  );
};

/** Closes a breaker, whatever is stored. */
const reset = async (name: BreakerName): Promise<void> => {
  const stored = await store.read(name);
  if (stored.version !== undefined)
    await store.replace(name, stored, { state: closedBreaker, version: 'reset' });
};

/** A call that hangs fails soon, so that the test of it takes a minute. All other calls are answered much sooner. */
const timeouts = { connect: 3_000, total: 8_000 };

/** Runs `work` with these settings of the breakers, which all other tests keep closed (test/e2e/windows.ts). */
export const withBreakers = async <T>(settings: BreakerSettings, work: () => Promise<T>): Promise<T> => {
  const names = await functionNames();
  if (names.length === 0) throw new Error('No function has a breaker.');
  const before = await Promise.all(names.map(async (name) => [name, await variablesOf(name)] as const));
  const changed = { BREAKER: JSON.stringify(settings), PROVIDER_TIMEOUTS: JSON.stringify(timeouts) };
  await Promise.all([reset('starts'), reset('reads')]);
  for (const [name, variables] of before) await configure(name, { ...variables, ...changed });
  try {
    return await work();
  } finally {
    for (const [name, variables] of before) await configure(name, variables);
    await Promise.all([reset('starts'), reset('reads')]);
  }
};
