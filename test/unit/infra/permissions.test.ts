import { describe, expect, test } from 'vitest';
import { withWhatTheAccountHas } from './embedded.ts';
import { flatten, resourcesOf, synthesize } from './synth.ts';

type Statement = {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: unknown;
  readonly Condition?: Readonly<Record<string, unknown>>;
};

const { template } = synthesize();

const statementsOf = (document: unknown): readonly Statement[] =>
  (document as { readonly Statement: readonly Statement[] }).Statement;

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

/** One line for each action of a role, with its resource and the service through which it is allowed. */
const rightsOf = (role: string, from = template): readonly string[] =>
  Object.values(resourcesOf(from, 'AWS::IAM::Policy'))
    .filter(({ Properties }) => flatten(list(Properties.Roles as unknown[])[0]).includes(`<${role}>`))
    .flatMap(({ Properties }) => statementsOf(Properties.PolicyDocument))
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap((statement) =>
      list(statement.Resource).flatMap((resource) =>
        list(statement.Action).map((action) => `${action} ${short(flatten(resource))}${via(statement)}`),
      ),
    )
    .toSorted();

const short = (arn: string): string =>
  arn.replace(/^arn:<AWS::Partition>:(\w+):<AWS::Region>:<AWS::AccountId>:/, '$1 ');

const via = ({ Condition }: Statement): string =>
  Condition === undefined
    ? ''
    : ` via ${flatten((Condition.StringEquals as Record<string, unknown>)['kms:ViaService']).split('.')[0]}`;

const writingTables = [
  'kms:Decrypt <DataKey.Arn> via dynamodb',
  'kms:DescribeKey <DataKey.Arn> via dynamodb',
  'kms:Encrypt <DataKey.Arn> via dynamodb',
  'kms:GenerateDataKey <DataKey.Arn> via dynamodb',
  'kms:GenerateDataKeyWithoutPlaintext <DataKey.Arn> via dynamodb',
  'kms:ReEncryptFrom <DataKey.Arn> via dynamodb',
  'kms:ReEncryptTo <DataKey.Arn> via dynamodb',
];

const openingSecrets = 'kms:Decrypt <DataKey.Arn> via secretsmanager';

const sending = 'sqs:SendMessage <ReconcileQueue.Arn>';

const reconciling = [
  ...writingTables,
  'dynamodb:GetItem <StorageExtractions.Arn>',
  'dynamodb:UpdateItem <StorageExtractions.Arn>',
  'dynamodb:GetItem <StorageTasks.Arn>',
  'dynamodb:UpdateItem <StorageTasks.Arn>',
  'kms:GenerateDataKey <DataKey.Arn> via s3',
  's3:PutObject <StorageResults.Arn>/*',
  openingSecrets,
  'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/provider-api-key-??????',
  'dynamodb:GetItem <StorageBreakers.Arn>',
  'dynamodb:PutItem <StorageRefusals.Arn>',
  ...['ReconcileQueue', 'ReconcileQueueSlow'].flatMap((queue) => [
    `sqs:DeleteMessage <${queue}.Arn>`,
    `sqs:GetQueueAttributes <${queue}.Arn>`,
    `sqs:ReceiveMessage <${queue}.Arn>`,
    `sqs:SendMessage <${queue}.Arn>`,
  ]),
  'dynamodb:DeleteItem <StorageRequests.Arn>',
  'dynamodb:GetItem <StorageRequests.Arn>',
  'dynamodb:UpdateItem <StorageRequests.Arn>',
];

const logging = (log: string): readonly string[] => [
  `logs:CreateLogStream <${log}.Arn>`,
  `logs:PutLogEvents <${log}.Arn>`,
];

const rights: Readonly<Record<string, readonly string[]>> = {
  RequestExtractionRole: [
    ...logging('RequestExtractionLog'),
    ...writingTables,
    'dynamodb:PutItem <StorageExtractions.Arn>',
    'dynamodb:DeleteItem <StorageRequests.Arn>',
    'dynamodb:PutItem <StorageRequests.Arn>',
    openingSecrets,
    'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/fingerprint-key-??????',
    'states:StartExecution states stateMachine:Cosecha-prod-extractions',
  ],
  GetExtractionRole: [
    ...logging('GetExtractionLog'),
    'dynamodb:GetItem <StorageExtractions.Arn>',
    'dynamodb:Query <StorageExtractions.Arn>/index/reference',
    'kms:Decrypt <DataKey.Arn> via dynamodb',
    'kms:DescribeKey <DataKey.Arn> via dynamodb',
    'kms:Decrypt <DataKey.Arn> via s3',
    's3:GetObject <StorageResults.Arn>/*',
  ],
  StartTaskRole: [
    ...logging('StartTaskLog'),
    ...writingTables,
    'dynamodb:GetItem <StorageExtractions.Arn>',
    'dynamodb:UpdateItem <StorageExtractions.Arn>',
    'dynamodb:UpdateItem <StorageTasks.Arn>',
    'dynamodb:DeleteItem <StorageRequests.Arn>',
    'dynamodb:GetItem <StorageRequests.Arn>',
    'dynamodb:PutItem <StorageRequests.Arn>',
    'dynamodb:GetItem <StorageBreakers.Arn>',
    'dynamodb:PutItem <StorageBreakers.Arn>',
    'dynamodb:GetItem <StorageRefusals.Arn>',
    'dynamodb:PutItem <StorageRefusals.Arn>',
    openingSecrets,
    'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/fingerprint-key-??????',
    'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/provider-api-key-??????',
    sending,
    'states:SendTaskFailure states stateMachine:Cosecha-prod-extractions',
    'states:SendTaskSuccess states stateMachine:Cosecha-prod-extractions',
  ],
  ReceiveWebhookRole: [
    ...logging('ReceiveWebhookLog'),
    ...writingTables,
    'dynamodb:UpdateItem <StorageExtractions.Arn>',
    'dynamodb:UpdateItem <StorageTasks.Arn>',
    'dynamodb:PutItem <StorageRefusals.Arn>',
    openingSecrets,
    'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/webhook-signing-key-??????',
    sending,
    'states:SendTaskSuccess states stateMachine:Cosecha-prod-extractions',
  ],
  ReconcileExtractionRole: [...logging('ReconcileExtractionLog'), ...reconciling],
  SweepExtractionsRole: [
    ...logging('SweepExtractionsLog'),
    ...writingTables,
    sending,
    'dynamodb:UpdateItem <StorageExtractions.Arn>',
    'dynamodb:Query <StorageExtractions.Arn>/index/due',
  ],
  ManageConsentsRole: [
    ...logging('ManageConsentsLog'),
    openingSecrets,
    'secretsmanager:GetSecretValue secretsmanager secret:Cosecha-prod/provider-api-key-??????',
  ],
};

describe('the permissions of each function:', () => {
  test.each(Object.entries(rights))('%s', (role, expected) => {
    expect(rightsOf(role)).toEqual([...expected].toSorted());
  });

  test('no role has a managed policy, and only Lambda and the machine have roles', () => {
    const roles = resourcesOf(template, 'AWS::IAM::Role');
    const names = Object.keys(roles).map((id) => id.replace(/[0-9A-F]{8}$/, ''));
    expect(names.toSorted()).toEqual([...Object.keys(rights), 'ExtractionMachineRole'].toSorted());
    for (const { Properties } of Object.values(roles)) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
      expect(Properties.Policies).toBeUndefined();
    }
  });

  test("the machine's role is for this machine, as no other account's is", () => {
    const [role] = Object.entries(resourcesOf(template, 'AWS::IAM::Role')).filter(([id]) =>
      id.startsWith('ExtractionMachineRole'),
    );
    const [{ Condition } = {}] = statementsOf(role?.[1].Properties.AssumeRolePolicyDocument);
    const { StringEquals, ArnEquals } = Condition as Record<string, Record<string, unknown>>;
    expect(StringEquals?.['aws:SourceAccount']).toEqual({ Ref: 'AWS::AccountId' });
    expect(short(flatten(ArnEquals?.['aws:SourceArn']))).toBe('states stateMachine:Cosecha-prod-extractions');
  });

  test('the machine may invoke its two functions and deliver its log', () => {
    const [invoke, deliver] = [
      rightsOf('ExtractionMachineRole').filter((right) => right.startsWith('lambda:')),
      rightsOf('ExtractionMachineRole').filter((right) => !right.startsWith('lambda:')),
    ];
    expect(invoke).toEqual([
      'lambda:InvokeFunction <ReconcileExtractionFunction.Arn>',
      'lambda:InvokeFunction <StartTaskFunction.Arn>',
    ]);
    expect(deliver.every((right) => right.startsWith('logs:'))).toBe(true);
  });
});

describe('the seal key', () => {
  const keyPolicy = (from = template): readonly Statement[] => {
    const [, key] =
      Object.entries(resourcesOf(from, 'AWS::KMS::Key')).find(([id]) => id.startsWith('SealKey')) ?? [];
    return statementsOf(key?.Properties.KeyPolicy);
  };

  const forOneExtraction = {
    Null: { 'kms:EncryptionContext:extractionId': 'false', 'kms:EncryptionContext:requestId': 'false' },
    'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['extractionId', 'method', 'requestId'] },
  };

  test('is used to seal, to unseal, and to unseal targets, for a named extraction only', () => {
    const users = keyPolicy().slice(1);
    expect(
      users.map(({ Sid, Action, Principal }) => [
        Sid,
        Action,
        ...list((Principal as { AWS: object }).AWS).map(flatten),
      ]),
    ).toEqual([
      ['Seal', 'kms:Encrypt', '<RequestExtractionRole.Arn>'],
      ['Unseal', 'kms:Decrypt', '<StartTaskRole.Arn>'],
      ['UnsealTargets', 'kms:Decrypt', '<ReconcileExtractionRole.Arn>'],
    ]);
    for (const { Condition } of users) expect(Condition).toMatchObject(forOneExtraction);
  });

  test('decrypts for a reconcile only the target of a consent', () => {
    expect(keyPolicy().map(({ Sid, Condition }) => [Sid, Condition])).toEqual([
      ['Administer', undefined],
      ['Seal', forOneExtraction],
      ['Unseal', forOneExtraction],
      ['UnsealTargets', { ...forOneExtraction, StringEquals: { 'kms:EncryptionContext:method': 'consent' } }],
    ]);
  });

  test.each([
    ['', template],
    [', also if its app has the data key', withWhatTheAccountHas().template],
  ])('is created after the policies of the roles that it names%s', (_, its) => {
    const resources = its.toJSON().Resources as Record<string, { readonly DependsOn?: readonly string[] }>;
    const [id = ''] = Object.keys(resourcesOf(its, 'AWS::KMS::Key')).filter((one) => one.includes('SealKey'));
    for (const role of ['RequestExtraction', 'StartTask', 'ReconcileExtraction']) {
      expect(resources[id]?.DependsOn).toContainEqual(
        expect.stringMatching(`${role}RoleDefaultPolicy[0-9A-F]{8}$`),
      );
    }
  });

  test('gives its administrators no use of it, neither directly nor by a grant', () => {
    const [administer] = keyPolicy();
    const actions = list(administer?.Action ?? []);
    expect(administer?.Sid).toBe('Administer');
    expect(actions.filter((action) => /\*|Encrypt|Decrypt|DataKey|CreateGrant/.test(action))).toEqual([]);
  });

  const namingIt = (from = template) =>
    Object.values(resourcesOf(from, 'AWS::IAM::Policy')).flatMap(({ Properties }) =>
      statementsOf(Properties.PolicyDocument)
        .filter(({ Resource }) => JSON.stringify(Resource).includes('SealKey'))
        .map(({ Effect, Action, Condition }) => ({
          role: flatten(list(Properties.Roles as unknown[])[0]),
          ...{ Effect, Action, Condition },
        })),
    );

  test('is allowed by no identity policy, and denied to a role outside of its own function', () => {
    const denied = (name: string) => ({
      role: `<${name}Role>`,
      Effect: 'Deny',
      Action: 'kms:Decrypt',
      Condition: {
        ArnNotEquals: {
          'lambda:SourceFunctionArn': { 'Fn::GetAtt': [expect.stringMatching(`^${name}Function`), 'Arn'] },
        },
      },
    });
    expect(namingIt()).toEqual(['StartTask', 'ReconcileExtraction'].map(denied));
    // The emulator does not know where a request comes from.
    expect(namingIt(synthesize({ stage: 'local' }).template)).toEqual([]);
  });

  test('requires the encryption context except on the emulator, which cannot check it', () => {
    const users = keyPolicy(synthesize({ stage: 'local' }).template).slice(1);
    expect(users.map(({ Sid, Condition }) => [Sid, Condition])).toEqual([
      ['Seal', undefined],
      ['Unseal', undefined],
      ['UnsealTargets', undefined],
    ]);
  });
});

describe('the policies of people', () => {
  const longest = synthesize({ fanOutToEventBus: 'true' }).template;
  const policies = new Map(
    Object.values(resourcesOf(longest, 'AWS::IAM::ManagedPolicy')).map(({ Properties }) => [
      flatten(Properties.ManagedPolicyName).split('-').at(-1),
      Properties,
    ]),
  );
  const actionsOf = (name: string): readonly string[] =>
    statementsOf(policies.get(name)?.PolicyDocument).flatMap(({ Action }) => list(Action));

  test('a viewer only reads, and neither a secret nor, as an operator does, results', () => {
    const reads =
      /:(Get|BatchGet|Describe|List)|^dynamodb:(Query|Scan)$|^kms:Decrypt$|^logs:(FilterLogEvents|StartQuery)$|:Simulate/;
    expect(actionsOf('viewer').filter((action) => !reads.test(action))).toEqual([]);
    expect(['viewer', 'operator'].filter((name) => actionsOf(name).includes('s3:GetObject'))).toEqual([
      'operator',
    ]);
  });

  test('only an admin reads a secret, and deletes a record or results', () => {
    const dangerous =
      /SecretValue|SecretVersionStage|DeleteItem|DeleteObject|DeleteTable|RestoreTable|CreateGrant/;
    expect(['viewer', 'operator'].flatMap(actionsOf).filter((action) => dangerous.test(action))).toEqual([]);
    expect(actionsOf('admin')).toContain('secretsmanager:GetSecretValue');
  });

  test('each has a name for each stage and region, and fits a managed policy, with names as long as they get', () => {
    expect([...policies.values()].map(({ ManagedPolicyName }) => flatten(ManagedPolicyName))).toEqual([
      'Cosecha-prod-<AWS::Region>-viewer',
      'Cosecha-prod-<AWS::Region>-operator',
      'Cosecha-prod-<AWS::Region>-admin',
    ]);
    for (const { PolicyDocument } of policies.values()) {
      const text = JSON.stringify(
        statementsOf(PolicyDocument).map(({ Resource, ...rest }) => ({
          ...rest,
          Resource: list(Resource).map(flatten),
        })),
      );
      // The longest region, and ARNs of 150 characters, which a stack's name of 30 has.
      const deployed = text
        .replaceAll(/<\w+\.(Stream)?Arn>|<ExtractionMachine\w*>/g, 'x'.repeat(150))
        .replaceAll('<AWS::Region>', 'ap-southeast-1')
        .replaceAll('<AWS::AccountId>', '111122223333');
      // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
      expect(deployed.length).toBeLessThan(6_144);
    }
  });
});

describe('on the emulator only', () => {
  test('the functions that answer callback tokens may do so on any resource', () => {
    const local = synthesize({ stage: 'local' }).template;
    const anywhere = (role: string) => rightsOf(role, local).filter((right) => right.endsWith(' *'));
    expect(anywhere('StartTaskRole')).toEqual(['states:SendTaskFailure *', 'states:SendTaskSuccess *']);
    expect(anywhere('ReceiveWebhookRole')).toEqual(['states:SendTaskSuccess *']);
    expect(anywhere('RequestExtractionRole')).toEqual([]);
  });
});
