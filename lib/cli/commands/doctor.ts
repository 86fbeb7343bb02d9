import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { openExtractionIds, readExtractions } from '../aws/open-extractions.ts';
import { readReconcileSettings } from '../aws/reconcile-function.ts';
import { stackResources } from '../aws/stack-resources.ts';
import type { Context } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { checkAlarms } from '../doctor/check-alarms.ts';
import { checkBucket } from '../doctor/check-bucket.ts';
import { checkDeadLetters } from '../doctor/check-dead-letters.ts';
import { checkFanOut } from '../doctor/check-fan-out.ts';
import { checkMachine } from '../doctor/check-machine.ts';
import { checkOverdue } from '../doctor/check-overdue.ts';
import { checkProvider } from '../doctor/check-provider.ts';
import { checkRules, readRules } from '../doctor/check-rules.ts';
import { checkSecret } from '../doctor/check-secret.ts';
import { checkStack } from '../doctor/check-stack.ts';
import { checkSweep } from '../doctor/check-sweep.ts';
import { checkTable } from '../doctor/check-table.ts';
import { checkWebhook } from '../doctor/check-webhook.ts';
import { type Finding, foundBy, passed, skipped } from '../doctor/finding.ts';

export type DoctorOptions = { readonly provider?: true };

/** The default of sweepEveryMinutes, for where the rule cannot be read. */
const USUAL_MINUTES = 5;

const signs = { passed: '✓', failed: '✗', skipped: '·' } as const;

/** Looks at everything, one line for each check; what is wrong comes with what to do. */
export const doctor = async (options: DoctorOptions, { shell, connect }: Context): Promise<number> => {
  const system = await connect();
  let failures = 0;
  for (const check of checksOf(system, options, shell.now())) {
    shell.wait('looking');
    const finding = await check();
    shell.wait(undefined);
    if (finding.result === 'failed') failures += 1;
    const remedy = finding.result === 'failed' ? [`  → ${finding.remedy}`] : [];
    shell.print([`${signs[finding.result]} ${finding.message}`, ...remedy], finding);
  }
  shell.hint(
    failures === 0 ? 'All checks passed.' : `${failures} ${failures === 1 ? 'check' : 'checks'} failed.`,
  );
  return failures === 0 ? 0 : 1;
};

type Check = () => Promise<Finding>;

const checksOf = (system: Deployment, { provider }: DoctorOptions, now: Date): readonly Check[] => {
  const { client, output, stage, stackName } = system;
  const dynamo = new DynamoDBClient(client);
  const secrets = new SecretsManagerClient(client);
  const metrics = new CloudWatchClient(client);
  const queues = new SQSClient({ ...client, useQueueUrlAsEndpoint: !system.isEmulated });
  const resources = once(() => stackResources(new CloudFormationClient(client), stackName));
  const named = async (type: string) => (await resources()).get(type) ?? [];
  const rules = once(async () => readRules(new EventBridgeClient(client), await named('AWS::Events::Rule')));
  const sweepMinutes = async (): Promise<number> => {
    const known = await rules().catch(() => []);
    return known.find(({ everyMinutes }) => everyMinutes !== undefined)?.everyMinutes ?? USUAL_MINUTES;
  };
  const secret = (name: string, what: string, fillWith: () => string): Check =>
    found(what, () =>
      checkSecret(secrets, { name: `${stackName}/${name}`, what, fillWith: fillWith() }, now),
    );

  return [
    found('credentials', async () => {
      const { Account, Arn } = await new STSClient(client).send(new GetCallerIdentityCommand());
      return passed(`account ${Account}, as ${Arn}`);
    }),
    found('stack', async () => checkStack(stackName, system.stackStatus)),
    secret('provider-api-key', 'provider API key', () => output('FillProviderApiKey')),
    secret('webhook-signing-key', 'webhook signing key', () => output('FillWebhookSigningKey')),
    secret('fingerprint-key', 'fingerprint key', () => 'The stack generates it: deploy it again.'),
    found('webhook', () => checkWebhook(fetch, system.api.webhookUrl)),
    found('machine', () => checkMachine(new SFNClient(client), output('StateMachineArn'), now)),
    found('table Extractions', () =>
      checkTable(dynamo, { name: output('ExtractionsTableName'), what: 'Extractions', isContract: true }),
    ),
    found('table Tasks', () =>
      checkTable(dynamo, { name: output('TasksTableName'), what: 'Tasks', isContract: false }),
    ),
    found('results bucket', () =>
      checkBucket(
        new S3Client({ ...client, forcePathStyle: system.isEmulated }),
        output('ResultsBucketName'),
      ),
    ),
    found('rules', async () => checkRules(await rules())),
    found('sweep', async () =>
      system.isEmulated
        ? skipped('last sweep: not to be told, as the emulator makes no metrics of logs')
        : checkSweep(metrics, stage, await sweepMinutes(), now),
    ),
    found('overdue', async () => {
      const table = output('ExtractionsTableName');
      const ids = await openExtractionIds(dynamo, table, now.toISOString());
      return checkOverdue(await readExtractions(dynamo, table, ids), await sweepMinutes(), now);
    }),
    found('dead-letter queue', () => checkDeadLetters(queues, output('DeadLetterQueueUrl'))),
    found('bus', async () =>
      checkFanOut(queues, await named('AWS::SQS::Queue'), output('DeadLetterQueueUrl')),
    ),
    found('alarms', async () => checkAlarms(metrics, await named('AWS::CloudWatch::Alarm'))),
    found('provider', async () =>
      provider === true
        ? checkProvider(
            secrets,
            `${stackName}/provider-api-key`,
            await readReconcileSettings(new LambdaClient(client), output('ReconcileFunctionName')),
          )
        : skipped('provider: not asked; --provider logs in once with the API key'),
    ),
  ];
};

const found =
  (subject: string, check: Check): Check =>
  () =>
    foundBy(subject, check);

/** Asks once, and keeps the answer. */
const once = <Answer>(ask: () => Promise<Answer>): (() => Promise<Answer>) => {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
};
