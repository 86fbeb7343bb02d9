import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  IAMClient,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import {
  LambdaClient,
  ListFunctionsCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import type { TestProject } from 'vitest/node';
import { LOCAL_STAGE, stackNameOf } from '#lib/aws/stage.ts';
import type { Emulator } from '../../tools/local/emulator/emulator.ts';
import { startLocalSystem } from '../../tools/local/local-system.ts';
import { createRunDirectory } from '../../tools/local/paths.ts';
import { createRunOutput } from '../../tools/local/run-output.ts';
import { saveFunctionLogs } from '../../tools/local/save-function-logs.ts';
import { faultsEnvironment } from './injected-failures/preload-variables.ts';
import { searchAfterTheSuite } from './leaks/search-after-the-suite.ts';
import { newSecretMarkers, type SecretMarkers } from './leaks/secret.ts';
import { auditAfterTheSuite } from './support/audit-after-the-suite.ts';
import { checkStreamRecords } from './support/check-stream-records.ts';
import { deliveries, functionTimeoutSeconds, outageSettings, settings } from './time-limits.ts';

export const stackName = stackNameOf(LOCAL_STAGE);

/** Everything a test needs to reach its deployment. */
export type Deployed = {
  readonly client: Emulator['client'];
  readonly caFile: string;
  readonly outputs: Record<string, string>;
  readonly api: string;
  readonly sandboxUrl: string;
  readonly signingKey: string;
  readonly apiKey: string;
  /** The files of this run, logs included. */
  readonly directory: string;
  readonly faultsDirectory: string;
  readonly markers: SecretMarkers;
  /** Where tests record secrets and answers for the search for leaks after the suite. */
  readonly secretsFile: string;
  readonly answersFile: string;
  readonly callers: Record<Caller, { readonly accessKeyId: string; readonly secretAccessKey: string }>;
};

/** Two IAM users who may call the API. Neither may read the other's extractions. */
export type Caller = 'caller' | 'stranger';

declare module 'vitest' {
  interface ProvidedContext {
    cosecha: Deployed;
  }
}

type Deployment = { readonly deployed: Deployed; readonly end: () => Promise<void> };

/** The deployments of the suite: one for the outages and the line of starts, one for all other tests. */
const deployments = { outage: outageSettings, shared: settings } as const;
type Name = keyof typeof deployments;

/** The suite's projects run in one process, and end together. */
const suite = globalThis as {
  cosechaSuite?: { readonly started: Map<Name, Promise<Deployment>>; ended?: Promise<void> };
};

/** Starts an emulator and a sandbox for each deployment, and ends them after the last test. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  suite.cosechaSuite ??= { started: new Map() };
  const shared = suite.cosechaSuite;
  const name: Name = ['e2e-outage', 'e2e-line'].includes(project.name) ? 'outage' : 'shared';
  const deployment = shared.started.get(name) ?? deploy(name);
  shared.started.set(name, deployment);
  project.provide('cosecha', (await deployment).deployed);
  return () => {
    shared.ended ??= endAll([...shared.started.values()]);
    return shared.ended;
  };
}

const endAll = async (deployments: readonly Promise<Deployment>[]): Promise<void> => {
  const ends = await Promise.allSettled(deployments.map(async (one) => (await one).end()));
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
};

/** Deploys. `end` checks all stream records, audits the deployment, searches all that is left for leaks, fails the run if there is any, tears down. */
const deploy = async (name: Name): Promise<Deployment> => {
  const startedAt = new Date();
  const directory = await createRunDirectory(`e2e-${name}`, startedAt);
  const markers = newSecretMarkers();
  const faults = await faultsEnvironment(directory);
  const cleanups: (() => Promise<unknown>)[] = [];
  let stopping: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  };
  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };
  try {
    const { emulator, outputs, api, access, secrets } = await startLocalSystem({
      directory,
      show: createRunOutput(createWriteStream(join(directory, 'deployment.log')), Date.now),
      signal: new AbortController().signal,
      atEnd: (cleanup) => void cleanups.push(cleanup),
      settings: deployments[name],
      sandbox: {
        markers: { result: markers.result, webhook: markers.webhookField },
        taskDurationMs: 300,
        ...deliveries,
        // A line has the username, which the search for leaks searches for.
        log: () => undefined,
      },
      auth: true,
      // It writes its state to disk first.
      stopGraceMs: 300_000,
      emulatorEnv: {
        ...faults,
        // It writes its state when it ends (ministack/core/persistence.py). The state is searched for leaks.
        PERSIST_STATE: '1',
        STATE_DIR: join(directory, 'state'),
      },
    });
    cleanups.push(() => saveFunctionLogs(emulator, join(directory, 'functions.log')));
    await lengthenTimeouts(emulator);
    const callers = {
      caller: await createCaller(emulator, 'caller'),
      stranger: await createCaller(emulator, 'stranger'),
    };
    const deployed: Deployed = {
      client: emulator.client,
      caFile: emulator.caFile ?? '',
      outputs,
      api: api.base,
      sandboxUrl: access.baseUrl,
      signingKey: secrets.webhookSigningKey,
      apiKey: secrets.providerApiKey,
      directory,
      faultsDirectory: faults.COSECHA_FAULTS,
      markers,
      secretsFile: join(directory, 'secrets.jsonl'),
      answersFile: join(directory, 'answers.jsonl'),
      callers,
    };
    return {
      deployed,
      end: async () => {
        try {
          await checkStreamRecords(deployed);
          await auditAfterTheSuite(deployed, startedAt);
          await searchAfterTheSuite({ directory, stackName, deployed }, stop);
        } finally {
          await stop();
        }
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Gives the functions that callers and the provider wait for more time than on AWS, as time-limits.ts explains. */
const lengthenTimeouts = async ({ client }: Emulator): Promise<void> => {
  const lambda = new LambdaClient(client);
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand());
  const short = Functions.filter(({ Timeout = 0 }) => Timeout < functionTimeoutSeconds);
  for (const { FunctionName } of short) {
    await lambda.send(
      new UpdateFunctionConfigurationCommand({ FunctionName, Timeout: functionTimeoutSeconds }),
    );
  }
};

const createCaller = async ({ client }: Emulator, UserName: Caller) => {
  const iam = new IAMClient(client);
  await iam.send(new CreateUserCommand({ UserName }));
  await iam.send(
    new PutUserPolicyCommand({
      UserName,
      PolicyName: 'call-the-api',
      PolicyDocument: JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }],
      }),
    }),
  );
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  return { accessKeyId: AccessKey?.AccessKeyId ?? '', secretAccessKey: AccessKey?.SecretAccessKey ?? '' };
};
