import { randomUUID } from 'node:crypto';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { presignResults } from '../../../../lib/aws/presign-results.ts';
import {
  type BreakerName,
  breakerNames,
  closedBreaker,
  pause,
} from '../../../../lib/breaker/breaker-state.ts';
import { type BreakerStore, changeBreaker } from '../../../../lib/breaker/breaker-store.ts';
import type { Deployment } from '../../aws/deployment.ts';
import { breakersOf, requireRecord, requireResults, s3Of } from '../../aws/stores.ts';
import { deadLettersOnAws, redriveLetters } from '../../operate/dead-letters.ts';
import { reconcileNow } from '../../operate/invoke-functions.ts';
import { describeProgress } from '../../terminal/describe-record.ts';
import type { ConsoleAction } from './actions.ts';

const calls = { starts: 'start calls', reads: 'reads of tasks' } as const;

/** Each process of the functions reads the state again after so long. */
const takesEffect = 'It takes effect within 5 seconds.';

const actionsOf = (store: BreakerStore, name: BreakerName, now: () => Date): readonly ConsoleAction[] => {
  const deps = { now, newVersion: randomUUID };
  return [
    {
      id: `pause-${name}`,
      label: `Pause ${name}`,
      place: 'health',
      breaker: { name, isHeld: false },
      changes: true,
      input: 'Reason, for the other operators',
      effect: `No ${calls[name]} are made until somebody resumes them. ${takesEffect}`,
      run: async (_, reason) => {
        await changeBreaker(store, name, (state) => pause(state, reason, now().getTime()), deps);
        return { text: `The ${name} are paused. ${takesEffect}` };
      },
    },
    {
      id: `resume-${name}`,
      label: `Resume ${name}`,
      place: 'health',
      breaker: { name, isHeld: true },
      changes: true,
      effect: `The ${calls[name]} go through again, even if the provider's failures had opened the breaker. ${takesEffect}`,
      run: async () => {
        await changeBreaker(store, name, () => ({ ...closedBreaker }), deps);
        return { text: `The ${name} are resumed. ${takesEffect}` };
      },
    },
  ];
};

/** Pausing and resuming the calls to the provider, as `cosecha pause` and `cosecha resume` do it. */
export const breakerActions = (store: BreakerStore, now: () => Date): readonly ConsoleAction[] =>
  breakerNames.flatMap((name) => actionsOf(store, name, now));

const linkAction = (deployment: Deployment, now: () => Date): ConsoleAction => {
  const presign = presignResults(s3Of(deployment), now);
  return {
    id: 'results',
    label: 'Link to the results',
    place: 'extraction',
    changes: false,
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
    changes: true,
    isFor: ({ dueShard }) => dueShard !== undefined,
    effect: 'It reads the provider once, settles and collects, as the sweep would. Doing it twice is safe.',
    run: async (extractionId) => {
      await reconcileNow(lambda, output('ReconcileFunctionName'), { trigger: 'operator', extractionId });
      const record = await requireRecord(deployment, extractionId);
      return { text: `It is ${describeProgress(record)}.`, extractionId };
    },
  };
};

const redriveAction = (deployment: Deployment): ConsoleAction => {
  const ignore = (): void => undefined;
  return {
    id: 'redrive',
    label: 'Redrive dead letters',
    place: 'health',
    changes: true,
    effect:
      'It reconciles the extraction of each message in the dead-letter queue, and deletes the message on success. Those that fail again stay.',
    run: async () => {
      const { done, failed, unknown } = await redriveLetters({
        ...deadLettersOnAws(deployment),
        onDone: ignore,
        onFailed: ignore,
        onUnknown: ignore,
      });
      const shown = unknown === 0 ? '' : ' `cosecha redrive` prints the unknown ones, and can remove them.';
      return { text: `${done} done and deleted, ${failed} failed again, ${unknown} unknown.${shown}` };
    },
  };
};

/** What the console can do in a deployment. Only the link needs no `--actions`. */
export const consoleActions = (
  deployment: Deployment,
  { allowed, now }: { readonly allowed: boolean; readonly now: () => Date },
): readonly ConsoleAction[] => [
  linkAction(deployment, now),
  ...(allowed
    ? [reconcileAction(deployment), redriveAction(deployment), ...breakerActions(breakersOf(deployment), now)]
    : []),
];
