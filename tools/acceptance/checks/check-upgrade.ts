import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { describeStack, readStackResources } from '../../cli/aws/stack.ts';
import type { Scenario } from '../fake-provider/function/scenario.ts';
import { upgradeStateSeconds } from '../settings.ts';
import { type AcceptContext, type Check, expectNone, passed } from './check.ts';
import { auditPasses, doctorPasses } from './check-deployed.ts';
import { extract, isDone, readUntil, requestOf } from './request-and-await.ts';
import { type Cases, updateInPlace } from './update-in-place.ts';

/** `isLong`: it lasts until after the update. */
type One = { readonly extractionId: string; readonly isLong?: true };

/** The tasks of the fake provider end by the time. `checkId` is that of a window that `moveTime` ends. */
const casesOf = (context: AcceptContext): Cases<One> => {
  const endsAfter = upgradeStateSeconds;
  const busyUntil = Math.ceil(context.now().getTime() / 1_000) + endsAfter;
  const inState =
    (checkId: string, scenario: Partial<Scenario>, fits: (one: PublicExtraction) => boolean) =>
    async (): Promise<One> => {
      const extractionId = await extract(context, requestOf(checkId, scenario));
      await readUntil(context, extractionId, 'in its state', fits);
      return { extractionId, isLong: true };
    };
  const has = (status: string) => (one: PublicExtraction) => one.status === status;
  return {
    'waiting for the webhook': inState('upgrade', { endsAfter }, has('RUNNING')),
    'polled by the machine': inState('webhook-lost', { endsAfter, webhook: 'lost' }, has('RUNNING')),
    'requested and held, as the provider is busy': inState(
      'upgrade',
      { busyUntil },
      ({ lastProblem }) => lastProblem === 'http-429',
    ),
    'TIMED_OUT, in grace': inState('timeout-corrected', { endsAfter }, has('TIMED_OUT')),
  };
};

/** What keeps its id in an update in place, the code of the functions, and the status of the stack. */
const readStack = async ({ client, deployment: { stackName } }: AcceptContext) => {
  const cloudFormation = new CloudFormationClient(client);
  const resources = await readStackResources(cloudFormation, stackName);
  const kept = /::(Table|Bucket|Key|Secret|Queue|StateMachine|Api|LogGroup|Function|EventSourceMapping)$/;
  const lambda = new LambdaClient(client);
  const codes: unknown[] = [];
  for (const FunctionName of resources.get('AWS::Lambda::Function')?.toSorted() ?? [])
    codes.push((await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))).CodeSha256);
  return {
    ids: [...resources].flatMap(([type, ids]) => (kept.test(type) ? ids : [])),
    code: codes.join(),
    status: (await describeStack(cloudFormation, stackName))?.status,
  };
};

/** `tree`: the root of a checkout in place of this one. `fails`: the update is to fail. `tag`: the value of a tag of the stack. */
export type Update = { readonly tree?: string; readonly fails?: true; readonly tag?: string };

/** It resolves also if an update fails that is to fail. */
type UpdateStage = (update: Update) => Promise<unknown>;

const whileUpdating = (id: string, title: string, updateStage: UpdateStage, update: Update): Check => ({
  id,
  title,
  turn: 'alone',
  seconds: () => 1_800,
  run: async (context) => {
    const before = await readStack(context);
    let updatedAt = '';
    const early: string[] = [];
    const all = await updateInPlace<One>({
      ...context,
      cases: casesOf(context),
      // Its start call is under way for seconds.
      request: async () => ({
        extractionId: await extract(context, requestOf('upgrade', { start: 'slow', endsAfter: 5 })),
      }),
      update: async () => {
        await updateStage(update);
        updatedAt = context.now().toISOString();
      },
      closed: async ({ extractionId, isLong }, state) => {
        const done = await readUntil(context, extractionId, `done (${state})`, isDone);
        if (isLong && String(done.collectedAt) < updatedAt)
          early.push(`The update took longer than "${state}".`);
        return done;
      },
    });
    const after = await readStack(context);
    const status = update.fails ? 'UPDATE_ROLLBACK_COMPLETE' : 'UPDATE_COMPLETE';
    expectNone([
      ...early,
      ...before.ids.filter((one) => !after.ids.includes(one)).map((one) => `${one} was replaced.`),
      ...(after.status === status ? [] : [`The stack is ${after.status}, not ${status}.`]),
      ...((before.code === after.code) === (update.fails ?? false)
        ? []
        : ['The functions have the code of another version.']),
    ]);
    return passed(
      `${all.length} extractions ended as they must; ${after.ids.length} resources kept their ids`,
    );
  },
});

/** CloudFormation tags the secrets of a stack that it tags. To do so, it reads and updates them. */
const onlyTagged = (updateStage: UpdateStage, tree: string): Check => ({
  id: 'upgrade-tag',
  title: 'CloudFormation changes the secret of the fingerprint key, which is denied to people',
  turn: 'alone',
  seconds: () => 900,
  notOnEmulator: 'it does not know the policy of a secret',
  run: async (context) => {
    const tag = context.randomId();
    context.waitFor('an update that changes only a tag');
    await updateStage({ tree, tag });
    const SecretId = `${context.deployment.name}/fingerprint-key`;
    const { Tags } = await new SecretsManagerClient(context.client).send(
      new DescribeSecretCommand({ SecretId }),
    );
    const isTagged = Tags?.some(({ Value }) => Value === tag) ?? false;
    expectNone(isTagged ? [] : [`${SecretId} does not have the new tag.`], 'Read the events of the stack.');
    return passed(`${SecretId} has the new tag`);
  },
});

/** The checks of `npm run accept -- --upgrade`: to the later version in `tree`, and back by an update that fails. */
export const upgradeChecks = (tree: string, update: UpdateStage): readonly Check[] => [
  whileUpdating('upgrade', 'An update in place loses no extraction, and interrupts no call', update, {
    tree,
  }),
  whileUpdating(
    'upgrade-failed',
    'CloudFormation undoes an update that fails, and no extraction is lost',
    update,
    { fails: true },
  ),
  onlyTagged(update, tree),
  doctorPasses,
  auditPasses,
];
