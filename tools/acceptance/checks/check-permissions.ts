import { IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { type AcceptContext, type Check, expectNone, passed } from './check.ts';

const readSecret = 'secretsmanager:GetSecretValue';

/**
 * Who must be allowed and who must be denied an action on a resource, as a sample: the names of functions. The allowed ones also show
 * that the simulation sees the policies. test/unit/infra/permissions.test.ts compares all permissions with the template.
 */
const samples: readonly (readonly [action: string, resource: string, may: string, mayNot: string])[] = [
  ['dynamodb:Query', 'due', 'sweep-extractions', ''],
  ['dynamodb:DeleteItem', 'extractions', '', 'request-extraction'],
  ['dynamodb:GetItem', 'extractions', 'get-extraction reconcile-extraction', 'manage-consents'],
  ['dynamodb:PutItem', 'extractions', 'request-extraction', 'reconcile-extraction sweep-extractions'],
  ['dynamodb:Scan', 'extractions', '', 'receive-webhook'],
  ['dynamodb:UpdateItem', 'extractions', 'start-task receive-webhook reconcile-extraction', 'get-extraction'],
  ['dynamodb:UpdateItem', 'tasks', 'start-task receive-webhook', ''],
  ['dynamodb:UpdateItem', 'startLine', 'dispatch-starts', 'receive-webhook sweep-extractions'],
  ['kms:Decrypt', 'sealKey', '', 'request-extraction get-extraction receive-webhook manage-consents'],
  ['s3:DeleteObject', 'results', '', 'sweep-extractions'],
  [
    's3:GetObject',
    'results',
    'get-extraction',
    'start-task receive-webhook reconcile-extraction manage-consents',
  ],
  ['s3:PutObject', 'results', '', 'get-extraction'],
  ['dynamodb:GetItem', 'refusals', 'start-task', 'receive-webhook reconcile-extraction get-extraction'],
  ['dynamodb:PutItem', 'refusals', 'start-task receive-webhook reconcile-extraction', 'request-extraction'],
  [readSecret, 'fingerprint-key', 'request-extraction start-task', 'receive-webhook'],
  [readSecret, 'provider-api-key', 'start-task manage-consents', 'request-extraction receive-webhook'],
  [readSecret, 'webhook-signing-key', 'receive-webhook', 'start-task reconcile-extraction sweep-extractions'],
  ['states:SendTaskSuccess', 'machine', '', 'sweep-extractions'],
  ['states:StartExecution', 'machine', 'request-extraction', 'start-task'],
];

const arnsOf = async ({ deployment, stack }: AcceptContext): Promise<ReadonlyMap<string, string>> => {
  const { output, stackName } = deployment;
  const extractions = output('ExtractionsTableArn');
  const [, partition, , region, account] = extractions.split(':');
  // Any secret of this name: the last six characters are random.
  const secrets = ['provider-api-key', 'webhook-signing-key', 'fingerprint-key'].map(
    (name) =>
      [
        name,
        `arn:${partition}:secretsmanager:${region}:${account}:secret:${stackName}/${name}-Random`,
      ] as const,
  );
  return new Map([
    ['extractions', extractions],
    ['tasks', extractions.replace(output('ExtractionsTableName'), output('TasksTableName'))],
    ['refusals', extractions.replace(output('ExtractionsTableName'), output('RefusalsTableName'))],
    ['startLine', extractions.replace(output('ExtractionsTableName'), output('StartLineTableName'))],
    ['due', `${extractions}/index/due`],
    ['results', `arn:${partition}:s3:::${output('ResultsBucketName')}/any`],
    ['machine', output('StateMachineArn')],
    ['sealKey', (await stack.functionNamed('start-task')).variables.SEAL_KEY_ARN ?? ''],
    ...secrets,
  ]);
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
    const cases = samples
      .flatMap(([action, resource, may, mayNot]) => [
        ...may.split(' ').map((name) => ({ name, right: 'may', action, resource })),
        ...mayNot.split(' ').map((name) => ({ name, right: 'may not', action, resource })),
      ])
      .filter(({ name }) => name !== '');
    const problems: string[] = [];
    for (const { name, right, action, resource } of cases) {
      const { roleArn } = await context.stack.functionNamed(name);
      context.waitFor(`the simulation of ${action} by ${name}`);
      const { EvaluationResults = [] } = await iam.send(
        new SimulatePrincipalPolicyCommand({
          PolicySourceArn: roleArn,
          ActionNames: [action],
          ResourceArns: [arns.get(resource) ?? ''],
        }),
      );
      const found = EvaluationResults[0]?.EvalDecision === 'allowed' ? 'may' : 'may not';
      if (found !== right) problems.push(`${name} ${found} ${action} on ${resource}.`);
    }
    expectNone(problems, 'Compare the policies of these roles with the template.');
    return passed(`${cases.length} samples of ${new Set(cases.map(({ name }) => name)).size} roles`);
  },
};
