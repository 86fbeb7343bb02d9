import { IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { type AcceptContext, type Check, passed, Unmet } from './check.ts';

/** The resources of the samples, by the names that the table uses. */
type ResourceName =
  | 'extractions'
  | 'tasks'
  | 'due'
  | 'results'
  | 'machine'
  | 'sealKey'
  | 'provider-api-key'
  | 'webhook-signing-key'
  | 'fingerprint-key';

/**
 * A sample of what the role of each function must be allowed and must be denied. The allowed ones also show that the
 * simulation sees the policies. test/unit/infra/permissions.test.ts compares all permissions with the template.
 */
const samples: readonly (readonly [
  name: string,
  right: 'may' | 'may not',
  action: string,
  resource: ResourceName,
])[] = [
  ['request-extraction', 'may', 'dynamodb:PutItem', 'extractions'],
  ['request-extraction', 'may', 'states:StartExecution', 'machine'],
  ['request-extraction', 'may', 'secretsmanager:GetSecretValue', 'fingerprint-key'],
  ['request-extraction', 'may not', 'dynamodb:DeleteItem', 'extractions'],
  ['request-extraction', 'may not', 'secretsmanager:GetSecretValue', 'provider-api-key'],
  ['request-extraction', 'may not', 'kms:Decrypt', 'sealKey'],
  ['get-extraction', 'may', 'dynamodb:GetItem', 'extractions'],
  ['get-extraction', 'may', 's3:GetObject', 'results'],
  ['get-extraction', 'may not', 'dynamodb:UpdateItem', 'extractions'],
  ['get-extraction', 'may not', 's3:PutObject', 'results'],
  ['get-extraction', 'may not', 'kms:Decrypt', 'sealKey'],
  ['start-task', 'may', 'dynamodb:UpdateItem', 'extractions'],
  ['start-task', 'may', 'dynamodb:UpdateItem', 'tasks'],
  ['start-task', 'may', 'secretsmanager:GetSecretValue', 'provider-api-key'],
  ['start-task', 'may not', 's3:GetObject', 'results'],
  ['start-task', 'may not', 'secretsmanager:GetSecretValue', 'webhook-signing-key'],
  ['start-task', 'may not', 'states:StartExecution', 'machine'],
  ['receive-webhook', 'may', 'dynamodb:UpdateItem', 'extractions'],
  ['receive-webhook', 'may', 'dynamodb:UpdateItem', 'tasks'],
  ['receive-webhook', 'may', 'secretsmanager:GetSecretValue', 'webhook-signing-key'],
  ['receive-webhook', 'may not', 'dynamodb:Scan', 'extractions'],
  ['receive-webhook', 'may not', 'secretsmanager:GetSecretValue', 'provider-api-key'],
  ['receive-webhook', 'may not', 's3:GetObject', 'results'],
  ['receive-webhook', 'may not', 'kms:Decrypt', 'sealKey'],
  ['reconcile-extraction', 'may', 'dynamodb:GetItem', 'extractions'],
  ['reconcile-extraction', 'may', 'dynamodb:UpdateItem', 'extractions'],
  ['reconcile-extraction', 'may not', 'dynamodb:PutItem', 'extractions'],
  ['reconcile-extraction', 'may not', 's3:GetObject', 'results'],
  ['reconcile-extraction', 'may not', 'secretsmanager:GetSecretValue', 'webhook-signing-key'],
  ['reconcile-extraction', 'may not', 'states:SendTaskSuccess', 'machine'],
  ['sweep-extractions', 'may', 'dynamodb:Query', 'due'],
  ['sweep-extractions', 'may not', 'dynamodb:PutItem', 'extractions'],
  ['sweep-extractions', 'may not', 's3:DeleteObject', 'results'],
  ['sweep-extractions', 'may not', 'secretsmanager:GetSecretValue', 'webhook-signing-key'],
  ['manage-consents', 'may', 'secretsmanager:GetSecretValue', 'provider-api-key'],
  ['manage-consents', 'may not', 'dynamodb:GetItem', 'extractions'],
  ['manage-consents', 'may not', 's3:GetObject', 'results'],
  ['manage-consents', 'may not', 'kms:Decrypt', 'sealKey'],
];

const arnsOf = async ({
  deployment,
  stack,
}: AcceptContext): Promise<Readonly<Record<ResourceName, string>>> => {
  const { output, stackName } = deployment;
  const extractions = output('ExtractionsTableArn');
  const [, partition, , region, account] = extractions.split(':');
  const secret = (name: string) =>
    // Any secret of this name: the last six characters are random.
    `arn:${partition}:secretsmanager:${region}:${account}:secret:${stackName}/${name}-Random`;
  return {
    extractions,
    tasks: extractions.replace(output('ExtractionsTableName'), output('TasksTableName')),
    due: `${extractions}/index/due`,
    results: `arn:${partition}:s3:::${output('ResultsBucketName')}/any`,
    machine: output('StateMachineArn'),
    sealKey: (await stack.functionNamed('start-task')).variables.SEAL_KEY_ARN ?? '',
    'provider-api-key': secret('provider-api-key'),
    'webhook-signing-key': secret('webhook-signing-key'),
    'fingerprint-key': secret('fingerprint-key'),
  };
};

/**
 * The simulation reads the policies of the role as AWS has them. A role of a Lambda function cannot be assumed by
 * anybody else, so no real call can be made with it.
 */
export const functionPermissions: Check = {
  id: 'function-permissions',
  title: "Each function's role is allowed what it needs and denied what it does not need (a sample)",
  seconds: () => 90,
  run: async (context) => {
    const iam = new IAMClient(context.client);
    const arns = await arnsOf(context);
    const problems: string[] = [];
    for (const [name, right, action, resource] of samples) {
      const { roleArn } = await context.stack.functionNamed(name);
      context.waitFor(`the simulation of ${action} by ${name}`);
      const { EvaluationResults = [] } = await iam.send(
        new SimulatePrincipalPolicyCommand({
          PolicySourceArn: roleArn,
          ActionNames: [action],
          ResourceArns: [arns[resource]],
        }),
      );
      const found = EvaluationResults[0]?.EvalDecision === 'allowed' ? 'may' : 'may not';
      if (found !== right) problems.push(`${name} ${found} ${action} on ${resource}.`);
    }
    if (problems.length > 0) {
      throw new Unmet([...problems, 'Compare the policies of these roles with the template.'].join(' '));
    }
    return passed(`${samples.length} samples of ${new Set(samples.map(([name]) => name)).size} roles`);
  },
};
