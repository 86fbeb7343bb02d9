import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  PutMetricAlarmCommand,
  type PutMetricAlarmCommandInput,
} from '@aws-sdk/client-cloudwatch';
import {
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import {
  type FunctionConfiguration,
  LambdaClient,
  ListFunctionsCommand,
  PutFunctionRecursionConfigCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { LOCAL_STAGE, stackNameOf } from '#lib/aws/stage.ts';
import type { EmulatedStage } from '../../../tools/acceptance/emulated-stage.ts';

type Stage = Pick<EmulatedStage, 'emulator' | 'outputs'>;

type Statement = { readonly Action: string | readonly string[] };

const functionsOf = async ({ emulator }: Stage) => {
  const { Functions = [] } = await new LambdaClient(emulator.client).send(new ListFunctionsCommand());
  return (name: string): FunctionConfiguration => {
    const found = Functions.find(
      ({ Environment }) => Environment?.Variables?.POWERTOOLS_SERVICE_NAME === name,
    );
    if (found === undefined) throw new Error(`There is no function ${name}.`);
    return found;
  };
};

const roleOf = ({ Role = '' }: FunctionConfiguration): string => Role.slice(Role.lastIndexOf('/') + 1);

/** Changes environment variables of a function. */
const setVariables = async (stage: Stage, name: string, variables: Readonly<Record<string, string>>) => {
  const { FunctionName, Environment } = (await functionsOf(stage))(name);
  await new LambdaClient(stage.emulator.client).send(
    new UpdateFunctionConfigurationCommand({
      FunctionName,
      Environment: { Variables: { ...Environment?.Variables, ...variables } },
    }),
  );
};

/** A grant is missing: the sweep may not query the index of what is due. */
const removeGrant = async (stage: Stage): Promise<void> => {
  const iam = new IAMClient(stage.emulator.client);
  const RoleName = roleOf((await functionsOf(stage))('sweep-extractions'));
  const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
  for (const PolicyName of PolicyNames) {
    const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
    const policy = JSON.parse(decodeURIComponent(PolicyDocument)) as {
      readonly Statement: readonly Statement[];
    };
    const Statement = policy.Statement.filter(({ Action }) => ![Action].flat().includes('dynamodb:Query'));
    await iam.send(
      new PutRolePolicyCommand({
        RoleName,
        PolicyName,
        PolicyDocument: JSON.stringify({ ...policy, Statement }),
      }),
    );
  }
};

/** Alarms without a topic, as without the setting alarmTopicArn. */
const takeTopic = async ({ emulator }: Stage): Promise<void> => {
  const cloudWatch = new CloudWatchClient(emulator.client);
  const AlarmNames = [`${stackNameOf(LOCAL_STAGE)}-unknown-record`];
  const { MetricAlarms: [alarm] = [] } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNames }));
  if (alarm === undefined) throw new Error(`There is no alarm ${AlarmNames}.`);
  await cloudWatch.send(
    new PutMetricAlarmCommand({ ...alarm, AlarmActions: [] } as PutMetricAlarmCommandInput),
  );
};

/** The other caller is a reader, who may read every extraction. */
const admitStranger = (stage: Stage): Promise<void> =>
  setVariables(stage, 'get-extraction', { READERS: JSON.stringify([stage.outputs.StrangerRoleArn]) });

const forbidLoop = async (stage: Stage): Promise<void> => {
  const { FunctionName } = (await functionsOf(stage))('reconcile-extraction');
  await new LambdaClient(stage.emulator.client).send(
    new PutFunctionRecursionConfigCommand({ FunctionName, RecursiveLoop: 'Terminate' }),
  );
};

/**
 * Changes how receive-webhook is loaded, as if it had been deployed so, by a script that runs before it. `directory` is that of the
 * run, and `nodeOptions` are those of all functions, which the returned function restores.
 */
export const patchWebhook = async (
  stage: Stage,
  script: string,
  { directory, nodeOptions }: { readonly directory: string; readonly nodeOptions: string },
): Promise<() => Promise<void>> => {
  const file = join(directory, `${randomUUID()}.cjs`);
  await writeFile(file, script);
  const set = (NODE_OPTIONS: string) => setVariables(stage, 'receive-webhook', { NODE_OPTIONS });
  await set(`${nodeOptions} --require=${file}`);
  return () => set(nodeOptions);
};

/** Faults of the webhook, which hide each other. Each is undone before the next. */
export const webhookFaults = [
  {
    what: 'forged webhooks are accepted',
    script: "require('node:crypto').timingSafeEqual = () => true;",
    check: 'webhook-forged',
    named: /A webhook signed with a wrong key was answered 204, not 401/,
  },
  {
    what: 'only one signing key is accepted',
    script: `
      const { prototype } = require('node:module');
      const { _compile } = prototype;
      prototype._compile = function (code, ...rest) {
        return _compile.call(this, code.replaceAll('AWSPREVIOUS', 'AWSCURRENT'), ...rest);
      };`,
    check: 'signing-key-rotation',
    named: /A webhook under the previous key was answered 401, not 204/,
  },
] as const;

/** Faults that do not hide each other, so that one run has to name them all. The check that names each, and how. */
export const plantedFaults: readonly {
  readonly plant: (stage: Stage) => Promise<void>;
  readonly check: string;
  readonly named: RegExp;
}[] = [
  { plant: takeTopic, check: 'alarm-notifies', named: /The alarm Cosecha-local-unknown-record has no topic/ },
  { plant: admitStranger, check: 'foreign-caller', named: /read \S+ and got 200, not 404/ },
  { plant: forbidLoop, check: 'consent-flow', named: /its recursive loop detection is Terminate, not Allow/ },
  {
    plant: removeGrant,
    check: 'function-permissions',
    named: /sweep-extractions may not dynamodb:Query on due/,
  },
];

/** start-task sends credentials to another provider than the fake provider. */
export const useWrongProvider = (stage: Stage, PROVIDER_BASE_URL: string): Promise<void> =>
  setVariables(stage, 'start-task', { PROVIDER_BASE_URL });
