import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { ApiError } from '../../../lib/client/api-errors.ts';
import { signedFetch } from '../../../lib/client/signed-fetch.ts';
import { type Check, passed, Unmet, webhookArrives } from './check.ts';
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

/** More than the burst of the route's throttle (`apiBurstLimit`, 100), and its rate for some seconds. */
const unsignedRequests = 400;

/**
 * AWS's pages do not say whether the throttle of a route counts a request that is refused for its signature. What it shows is for
 * docs/operations.md, "A flood of forged deliveries".
 */
export const unsignedRefused: Check = {
  id: 'unsigned-requests',
  title: 'A flood of requests without a signature reaches no function',
  turn: 'alone',
  notOnEmulator: 'it does not throttle',
  run: async (context) => {
    const flood = Array.from({ length: unsignedRequests }, () =>
      context.api.call('GET', `/extractions/${context.randomId()}`, { as: fetch }),
    );
    const signed = await context.api.call('GET', `/extractions/${context.randomId()}`);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    const count = (status: number): number => statuses.filter((its) => its === status).length;
    const others = statuses.length - count(403) - count(429);
    if (others > 0) {
      throw new Unmet(
        `${others} requests were answered neither 403 nor 429. Check the authorizers of the routes.`,
      );
    }
    const counts = count(429) > 0 || signed.status === 429 ? 'counts' : 'does not count';
    return passed(
      `${count(403)} of ${statuses.length} were answered 403, ${count(429)} 429, and a signed one meanwhile ${signed.status}: the throttle of the route ${counts} them`,
    );
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
    const { status } = await context.api.call('GET', path, { as: stranger });
    if (status !== 404) {
      throw new Unmet(
        `The role ${RoleArn} read ${path} and got ${status}, not 404. Check the setting readers.`,
      );
    }
    const unsigned = await context.api.call('GET', path, { as: fetch });
    if (unsigned.status !== 403) {
      throw new Unmet(
        `${path} without a signature was answered ${unsigned.status}, not 403. Check the route's authorizer.`,
      );
    }
    return passed('404 for another role, 403 without a signature');
  },
};
