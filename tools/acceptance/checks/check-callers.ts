import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { ApiError } from '../../../lib/client/api-errors.ts';
import { type SignedFetch, signedFetch } from '../../../lib/client/signed-fetch.ts';
import { type Check, type CheckResult, passed, skipped, Unmet, webhookArrives } from './check.ts';
import { extract, extractWithKey, isDone, readUntil, requestOf } from './request-and-await.ts';

export const idempotentReplay: Check = {
  id: 'idempotent-replay',
  title: 'A repeated request starts nothing, and another request under its key is answered 422',
  dependsOn: webhookArrives,
  run: async (context) => {
    const key = context.randomId();
    const request = requestOf('idempotent-replay', { outcome: 'FAILED' });
    const first = await extractWithKey(context, request, key);
    const second = await extractWithKey(context, request, key);
    const { extractionId } = first.extraction;
    if (!second.replayed || second.extraction.extractionId !== extractionId) {
      throw new Unmet(
        `The repeated request is extraction ${second.extraction.extractionId}${second.replayed ? ', replayed' : ''}, and the first one ${extractionId}. The log of request-extraction has both.`,
      );
    }
    const other = requestOf('idempotent-replay', { outcome: 'PARTIAL' });
    const answer = await context.api.request(other, key).then(
      () => 'accepted',
      (error: unknown) => (error instanceof ApiError ? `answered ${error.status}` : 'not answered'),
    );
    if (answer !== 'answered 422') {
      throw new Unmet(
        `Another request under the same key was ${answer}, not answered 422. The log of request-extraction has the cause.`,
      );
    }
    await readUntil(context, extractionId, 'FAILED and collected', isDone);
    return passed(`one extraction, ${extractionId}, and 422 for the other request`);
  },
};

/** The default of `apiRateLimit`, which the stage has, and the burst that follows from it. */
const throttle = { rate: 50, burst: 100 };

/** The requests with a signature are few, as each that passes invokes a function. */
const flood = { unsigned: 400, signed: 8 };

type Answers = {
  readonly unsigned: readonly number[];
  readonly signed: readonly number[];
  readonly seconds: number;
};

/**
 * Whether the throttle of a route counts what is refused for its signature. A single 429 shows that it does. That there is none shows
 * something only if more requests came than the throttle lets pass in that time.
 */
export const unsignedVerdict = ({ unsigned, signed, seconds }: Answers): CheckResult => {
  const count = (statuses: readonly number[], status: number): number =>
    statuses.filter((its) => its === status).length;
  const others = unsigned.length - count(unsigned, 403) - count(unsigned, 429);
  if (others > 0) {
    throw new Unmet(
      `${others} requests were answered neither 403 nor 429. Check the authorizers of the routes.`,
    );
  }
  const seen = `of ${unsigned.length} requests without a signature in ${seconds.toFixed(1)} s, ${count(unsigned, 429)} were answered 429, and of ${signed.length} signed ones among them ${count(signed, 429)}`;
  if (count([...unsigned, ...signed], 429) > 0)
    return passed(`the throttle of the route counts them: ${seen}`);
  const lets = throttle.burst + throttle.rate * seconds;
  return unsigned.length > lets
    ? passed(`the throttle of the route does not count them: ${seen}`)
    : skipped(
        `no verdict: ${seen}, and the throttle lets ${Math.floor(lets)} pass in that time. Repeat it nearer to the region`,
      );
};

/** AWS's pages do not say it. What it shows is for docs/operations.md, "A flood of forged deliveries". */
export const unsignedRefused: Check = {
  id: 'unsigned-requests',
  title: 'A flood of requests without a signature reaches no function',
  turn: 'alone',
  notOnEmulator: 'it does not throttle',
  run: async ({ api, randomId, now }) => {
    const startedAt = now().getTime();
    const send = (count: number, sender?: SignedFetch): Promise<number[]> =>
      Promise.all(
        Array.from({ length: count }, () => api.statusAtOnce(`/extractions/${randomId()}`, sender)),
      );
    const half = flood.unsigned / 2;
    const [before, signed, after] = await Promise.all([
      send(half, fetch),
      send(flood.signed),
      send(half, fetch),
    ]);
    const seconds = (now().getTime() - startedAt) / 1_000;
    return unsignedVerdict({ unsigned: [...before, ...after], signed, seconds });
  },
};

export const foreignCaller: Check = {
  id: 'foreign-caller',
  title: "Another caller gets 404 for an extraction, and API Gateway's 403 without a signature",
  run: async (context) => {
    const RoleArn = context.fakeProvider.output('StrangerRoleArn');
    const sts = new STSClient(context.client);
    const extractionId = await extract(context, requestOf('foreign-caller', {}));
    const path = `/extractions/${extractionId}`;
    const { Credentials } = await sts.send(
      new AssumeRoleCommand({ RoleArn, RoleSessionName: 'cosecha-accept', DurationSeconds: 900 }),
    );
    const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
    const stranger = signedFetch({
      region: await sts.config.region(),
      credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
    });
    const { status } = await context.api.call('GET', path, { sender: stranger });
    if (status !== 404) {
      throw new Unmet(
        `The role ${RoleArn} read ${path} and got ${status}, not 404. Check the setting readers.`,
      );
    }
    const unsigned = await context.api.call('GET', path, { sender: fetch });
    if (unsigned.status !== 403) {
      throw new Unmet(
        `${path} without a signature was answered ${unsigned.status}, not 403. Check the route's authorizer.`,
      );
    }
    return passed('404 for another role, 403 without a signature');
  },
};
