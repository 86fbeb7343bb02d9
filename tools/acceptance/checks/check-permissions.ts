import { IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { type Check, passed } from './check.ts';
import type { AcceptContext } from './context.ts';
import { Unmet } from './unmet.ts';

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

type Sample = readonly [action: string, resource: ResourceName];

/**
 * A sample of what the role of each function must be allowed and must be denied. The allowed ones also show that the
 * simulation sees the policies. test/unit/infra/permissions.test.ts compares all permissions with the template.
 */
export const samples: Readonly<
  Record<string, { readonly allowed: readonly Sample[]; readonly denied: readonly Sample[] }>
> = {
  'request-extraction': {
    allowed: [
      ['dynamodb:PutItem', 'extractions'],
      ['states:StartExecution', 'machine'],
      ['secretsmanager:GetSecretValue', 'fingerprint-key'],
    ],
    denied: [
      ['dynamodb:DeleteItem', 'extractions'],
      ['secretsmanager:GetSecretValue', 'provider-api-key'],
      ['kms:Decrypt', 'sealKey'],
    ],
  },
  'get-extraction': {
    allowed: [
      ['dynamodb:GetItem', 'extractions'],
      ['s3:GetObject', 'results'],
    ],
    denied: [
      ['dynamodb:UpdateItem', 'extractions'],
      ['s3:PutObject', 'results'],
      ['kms:Decrypt', 'sealKey'],
    ],
  },
  'start-task': {
    allowed: [
      ['dynamodb:UpdateItem', 'extractions'],
      ['dynamodb:UpdateItem', 'tasks'],
      ['secretsmanager:GetSecretValue', 'provider-api-key'],
    ],
    denied: [
      ['s3:GetObject', 'results'],
      ['secretsmanager:GetSecretValue', 'webhook-signing-key'],
      ['states:StartExecution', 'machine'],
    ],
  },
  'receive-webhook': {
    allowed: [
      ['dynamodb:UpdateItem', 'extractions'],
      ['dynamodb:UpdateItem', 'tasks'],
      ['secretsmanager:GetSecretValue', 'webhook-signing-key'],
    ],
    denied: [
      ['dynamodb:Scan', 'extractions'],
      ['secretsmanager:GetSecretValue', 'provider-api-key'],
      ['s3:GetObject', 'results'],
      ['kms:Decrypt', 'sealKey'],
    ],
  },
  'reconcile-extraction': {
    allowed: [
      ['dynamodb:GetItem', 'extractions'],
      ['dynamodb:UpdateItem', 'extractions'],
    ],
    denied: [
      ['dynamodb:PutItem', 'extractions'],
      ['s3:GetObject', 'results'],
      ['secretsmanager:GetSecretValue', 'webhook-signing-key'],
      ['states:SendTaskSuccess', 'machine'],
    ],
  },
  'sweep-extractions': {
    allowed: [['dynamodb:Query', 'due']],
    denied: [
      ['dynamodb:PutItem', 'extractions'],
      ['s3:DeleteObject', 'results'],
      ['secretsmanager:GetSecretValue', 'webhook-signing-key'],
    ],
  },
  'manage-consents': {
    allowed: [['secretsmanager:GetSecretValue', 'provider-api-key']],
    denied: [
      ['dynamodb:GetItem', 'extractions'],
      ['s3:GetObject', 'results'],
      ['kms:Decrypt', 'sealKey'],
    ],
  },
};

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
  turn: 'together',
  seconds: () => 90,
  run: async (context) => {
    const iam = new IAMClient(context.client);
    const arns = await arnsOf(context);
    const problems: string[] = [];
    let count = 0;
    for (const [name, { allowed, denied }] of Object.entries(samples)) {
      const { roleArn } = await context.stack.functionNamed(name);
      const isAllowed = async ([action, resource]: Sample): Promise<boolean> => {
        count += 1;
        context.waitFor(`the simulation of ${action} by ${name}`);
        const { EvaluationResults = [] } = await iam.send(
          new SimulatePrincipalPolicyCommand({
            PolicySourceArn: roleArn,
            ActionNames: [action],
            ResourceArns: [arns[resource]],
          }),
        );
        return EvaluationResults[0]?.EvalDecision === 'allowed';
      };
      for (const sample of allowed) {
        if (!(await isAllowed(sample))) problems.push(`${name} may not ${sample[0]} on ${sample[1]}.`);
      }
      for (const sample of denied) {
        if (await isAllowed(sample)) problems.push(`${name} may ${sample[0]} on ${sample[1]}.`);
      }
    }
    if (problems.length > 0) {
      throw new Unmet([...problems, 'Compare the policies of these roles with the template.'].join(' '));
    }
    return passed(`${count} samples of ${Object.keys(samples).length} roles`);
  },
};
