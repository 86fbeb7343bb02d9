import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { GetFunctionRecursionConfigCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { loggedFields } from '../../cli/aws/logs.ts';
import { sumMetric } from '../../cli/aws/read-metric.ts';
import { formatNationalId } from '../fake-provider/function/scenario.ts';
import { type AcceptContext, type Check, passed, Unmet } from './check.ts';
import { readLogLines } from './lambda-report-lines.ts';
import { expectOutcome, extract, isDone, readUntil, referencePrefix } from './request-and-await.ts';

/** The user authorizes the consent this long after its creation, so that both states are seen. */
const authorizesAfter = 4;

/** How long the task takes, in seconds: for some 40 polls, which another emulator makes more slowly. MiniStack does not count them. */
const taskSeconds = { onAws: 60, onMiniStack: 2, elsewhere: 300 } as const;

const secondsOn = ({ isMiniStack, isEmulated }: AcceptContext['deployment']): number => {
  if (isMiniStack) return taskSeconds.onMiniStack;
  return isEmulated ? taskSeconds.elsewhere : taskSeconds.onAws;
};

/**
 * After so many invocations in one chain, Lambda stops a function that may not invoke itself through a queue
 * (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html). The sweep repairs a chain that was stopped, so only the
 * causes of the polls show that it was not.
 */
const maxStoppedChain = 16;

/** How many polls follow one another that their messages caused, without one that the sweep caused. */
export const maxChain = (causes: readonly string[]): number => {
  let [longest, current] = [0, 0];
  for (const cause of causes) {
    current = cause === 'due' ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
};

const expectLoopAllowed = async ({ client, stack }: AcceptContext): Promise<void> => {
  const { physicalName } = await stack.functionNamed('reconcile-extraction');
  const { RecursiveLoop } = await new LambdaClient(client).send(
    new GetFunctionRecursionConfigCommand({ FunctionName: physicalName }),
  );
  if (RecursiveLoop === 'Allow') return;
  throw new Unmet(
    `Lambda may stop ${physicalName} after ${maxStoppedChain} polls: its recursive loop detection is ${RecursiveLoop}, not Allow. Deploy the stack again.`,
  );
};

/** Throws Unmet unless more polls followed one another than Lambda lets a loop make that it would stop. */
const expectLongChain = async (context: AcceptContext, extractionId: string): Promise<number> => {
  const { client, stack, startedAt, now, sleep, waitFor } = context;
  const { physicalName, logGroup } = await stack.functionNamed('reconcile-extraction');
  waitFor(`the log of reconcile-extraction to have its polls of ${extractionId}`);
  // CloudWatch Logs has the lines of an invocation some seconds after its end.
  await sleep(20_000);
  const causes = (await readLogLines(client, logGroup, startedAt)).flatMap((line) => {
    const { message, extractionId: id, cause } = loggedFields(line) ?? {};
    return message === logMessages.reconcileFinished && id === extractionId ? [String(cause)] : [];
  });
  const chain = maxChain(causes);
  const metric = {
    namespace: 'AWS/Lambda',
    name: 'RecursiveInvocationsDropped',
    dimensions: { FunctionName: physicalName },
  };
  const dropped = await sumMetric(new CloudWatchClient(client), metric, startedAt, now());
  if (chain > maxStoppedChain && dropped === 0) return chain;
  throw new Unmet(
    `At most ${chain} of ${causes.length} polls of ${extractionId} followed one another, not more than ${maxStoppedChain}, and Lambda dropped ${dropped} invocations. Check the recursive loop detection of ${physicalName}.`,
  );
};

/** What the routes about consents answer, as docs/api.md describes it. */
type Answer = Readonly<Partial<Record<'otpToken' | 'consentId' | 'status' | 'subStatus', string>>>;

const callFor =
  ({ api }: AcceptContext, target: string) =>
  async (route: string, expected: number, request?: unknown): Promise<Answer> => {
    const [method, path = ''] = route.split(' ') as ['GET' | 'POST', string];
    const { status, body } = await api.call(method, path, { target, body: request });
    if (status === expected) return JSON.parse(body) as Answer;
    throw new Unmet(
      `${route} was answered ${status}, not ${expected}. The log of manage-consents has the cause.`,
    );
  };

export const consentFlow: Check = {
  id: 'consent-flow',
  title: 'A consent is created, authorized, used for an extraction, and revoked',
  seconds: ({ settings }) => settings.timings.deadline + 90,
  run: async (context) => {
    await expectLoopAllowed(context);
    const endsAfter = secondsOn(context.deployment);
    const authorizedAt = Math.floor(context.now().getTime() / 1_000) + authorizesAfter;
    const target = formatNationalId({ endsAfter, authorizedAt });
    const call = callFor(context, target);
    const request = { products: ['product-balance'] };
    const { otpToken, consentId = '' } = await call('POST /consent-sessions', 201, request);
    if (!otpToken) throw new Unmet('POST /consent-sessions was answered without otpToken.');
    const path = `/consents/${consentId}`;
    await context.until(
      `consent ${consentId} to be ACTIVE`,
      async () => (await call(`GET ${path}`, 200)).status === 'ACTIVE',
    );
    const extractionId = await extract(context, {
      method: 'consent',
      product: 'product-balance',
      consentId,
      target,
      reference: `${referencePrefix}consent-flow`,
    });
    const done = await readUntil(context, extractionId, 'COMPLETED under the consent', isDone);
    expectOutcome(done, 'COMPLETED', 'reconcile', 'The log of reconcile-extraction shows its polls.');
    const revoked = await call(`POST ${path}/revoke`, 200);
    if (revoked.subStatus !== 'REVOKED') {
      throw new Unmet(`The revoked consent ${consentId} is ${revoked.status}, ${revoked.subStatus}.`);
    }
    const chain = context.deployment.isMiniStack
      ? ''
      : `; ${await expectLongChain(context, extractionId)} polls followed one another`;
    return passed(`consent ${consentId}: ACTIVE, extraction ${extractionId}, then REVOKED${chain}`);
  },
};
