import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { presignResults } from '../../../../lib/aws/presign-results.ts';
import { defined } from '../../../../lib/defined.ts';
import type { CancelAnswer } from '../../../../lib/extraction/operate/cancel.ts';
import { type PausableCalls, pausableCalls } from '../../../../lib/shared-item/operator-settings.ts';
import type { Deployment } from '../../aws/deployment.ts';
import { identityOf } from '../../aws/identity.ts';
import { type Breakers, breakersOf, requireRecord, requireResults, s3Of } from '../../aws/stores.ts';
import { erasuresOf } from '../../operate/begin-erasure.ts';
import { pauseCalls, resumeCalls } from '../../operate/change-holds.ts';
import { deadLettersOnAws, redriveLetters } from '../../operate/dead-letters.ts';
import { cancelNow, reconcileNow } from '../../operate/invoke-functions.ts';
import { CliError } from '../../terminal/errors.ts';
import { describeProgress } from '../../terminal/operator-view.ts';
import { matchingRecords } from '../pages/list-page.ts';
import type { ConsoleSources } from '../sources/sources.ts';
import type { ConsoleAction } from './action-types.ts';
import { eraseMatchingAction } from './erase-matching-action.ts';
import { requestAgainAction, startAgainActions } from './start-again-actions.ts';

const named = { starts: 'start calls', reads: 'reads of tasks' } as const;

/** Each process of the functions reads the state again after so long. */
const takesEffect = 'It takes effect within 5 seconds.';

type Operating = {
  readonly breakers: Breakers;
  readonly identity: () => Promise<string | undefined>;
  readonly now: () => Date;
};

const actionsOf = (
  calls: PausableCalls,
  { breakers, identity, now }: Operating,
): readonly ConsoleAction[] => {
  const deps = { now, newVersion: randomUUID };
  return [
    {
      id: `pause-${calls}`,
      label: `Pause ${calls}`,
      place: 'health',
      pausing: { calls, resumes: false },
      input: 'Reason, for the other operators',
      effect: `No ${named[calls]} are made until somebody resumes them. ${takesEffect}`,
      run: async (_, reason) => {
        const pause = defined({ since: now().getTime(), reason, by: await identity() });
        await pauseCalls(breakers, calls, pause, deps);
        return { text: `The ${calls} are paused. ${takesEffect}` };
      },
    },
    {
      id: `resume-${calls}`,
      label: `Resume ${calls}`,
      place: 'health',
      pausing: { calls, resumes: true },
      effect: `The ${named[calls]} go through again${calls === 'starts' ? ', also those that a breaker holds' : ''}. ${takesEffect}`,
      run: async () => {
        await resumeCalls(breakers, calls, deps);
        return { text: `The ${calls} are resumed. ${takesEffect}` };
      },
    },
  ];
};

/** Pausing and resuming the calls to the provider, as `cosecha pause` and `cosecha resume` do it. */
export const pauseActions = (operating: Operating): readonly ConsoleAction[] =>
  pausableCalls.flatMap((calls) => actionsOf(calls, operating));

const linkAction = (deployment: Deployment, now: () => Date): ConsoleAction => {
  const presign = presignResults(s3Of(deployment), now);
  return {
    id: 'results',
    label: 'Link to the results',
    place: 'extraction',
    onlyReads: true,
    isFor: ({ results }) => results !== undefined,
    effect:
      'The link reads the bank data of a person, without credentials, for five minutes. That it was made is printed on the terminal of the console.',
    run: async (extractionId) => {
      const stored = requireResults(await requireRecord(deployment, extractionId));
      const { url, expiresAt } = await presign(stored);
      return {
        text: `${stored.bytes.toLocaleString('en')} bytes. The link is valid until ${expiresAt}.`,
        link: { url, label: 'Open the results' },
      };
    },
  };
};

const reconcileAction = (deployment: Deployment): ConsoleAction => {
  const { client, output } = deployment;
  const lambda = new LambdaClient(client);
  return {
    id: 'reconcile',
    label: 'Reconcile now',
    place: 'extraction',
    isFor: ({ dueShard }) => dueShard !== undefined,
    effect: 'It reads the provider once, settles and collects, as the sweep would. Doing it twice is safe.',
    run: async (extractionId) => {
      await reconcileNow(lambda, output('ReconcileFunctionName'), { trigger: 'operator', extractionId });
      const record = await requireRecord(deployment, extractionId);
      return { text: `It is ${describeProgress(record)}.`, extractionId };
    },
  };
};

/** @param cancelOne as `cancelNow`, for this deployment */
export const cancelAction = (
  cancelOne: (extractionId: string) => Promise<Pick<CancelAnswer, 'status' | 'cancelled'>>,
): ConsoleAction => ({
  id: 'cancel',
  label: 'Cancel the start',
  place: 'extraction',
  isFor: ({ status }) => status === 'REQUESTED',
  effect:
    'It ends the extraction as NOT_STARTED, also if it waits in line, unless its start call is made by then. It cannot be started again.',
  run: async (extractionId) => {
    const { cancelled, status } = await cancelOne(extractionId);
    if (!cancelled) throw new CliError(`It is ${status}, and is left as it is.`);
    return { text: 'It ended NOT_STARTED, and nothing ran.', extractionId };
  },
});

const redriveAction = (deployment: Deployment): ConsoleAction => ({
  id: 'redrive',
  label: 'Redrive dead letters',
  place: 'health',
  effect:
    'It reconciles the extraction of each message in the dead-letter queue, and deletes the message on success. Those that fail again stay.',
  run: async () => {
    const { done, failed, unknown } = await redriveLetters(deadLettersOnAws(deployment));
    const shown =
      unknown === 0
        ? ''
        : ` \`${deployment.command('redrive')}\` prints the unknown ones, and can remove them.`;
    return { text: `${done} done and deleted, ${failed} failed again, ${unknown} unknown.${shown}` };
  },
});

type ActionsDeps = {
  readonly allowed: boolean;
  readonly sources: ConsoleSources;
  readonly now: () => Date;
};

/** What the console can do in a deployment. Only the link needs no `--actions`. */
export const consoleActions = (
  deployment: Deployment,
  { allowed, sources, now }: ActionsDeps,
): readonly ConsoleAction[] => {
  if (!allowed) return [linkAction(deployment, now)];
  const { client, output, api } = deployment;
  const lambda = new LambdaClient(client);
  const matching = (query: string) => matchingRecords(query, sources, now());
  const send = { apiUrl: api.base, fetch: api.fetch, sleep: (milliseconds: number) => delay(milliseconds) };
  const recordOf = (extractionId: string) => requireRecord(deployment, extractionId);
  const erasures = erasuresOf(deployment);
  const erase = (extractionId: string) => erasures.begin({ erasureId: randomUUID(), extractionId });
  return [
    linkAction(deployment, now),
    reconcileAction(deployment),
    cancelAction((extractionId) =>
      cancelNow(lambda, output('ReconcileFunctionName'), { trigger: 'cancel', extractionId }),
    ),
    ...startAgainActions({ ...send, recordOf, newKey: randomUUID }),
    requestAgainAction({ ...send, matching }),
    eraseMatchingAction({ matching, erase }),
    redriveAction(deployment),
    ...pauseActions({ breakers: breakersOf(deployment), identity: () => identityOf(deployment), now }),
  ];
};
