import { GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import type { AcceptContext } from './context.ts';
import { expectOutcome, extract, isDone, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

/**
 * For how long the fake provider is busy, in seconds: some three tries of start-task. Longer where the first try came too
 * late, as on a slow machine with an emulator, but at most for half of the start window.
 */
const busySeconds = [8, 20, 60, 180];

/** How often a start ended as busy, by the history of the execution. */
const busyTries = async ({ client, deployment }: AcceptContext, extractionId: string): Promise<number> => {
  const { events = [] } = await new SFNClient(client).send(
    new GetExecutionHistoryCommand({
      executionArn: executionArn(deployment.output('StateMachineArn'), extractionId),
      maxResults: 1_000,
    }),
  );
  return events.filter(({ taskFailedEventDetails }) => taskFailedEventDetails?.error === 'ProviderBusy')
    .length;
};

export const startBusy: Check = {
  id: 'start-busy',
  title: 'A start that a busy provider answers 429 is tried again until it is accepted',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: ({ settings }) => 2 * settings.timings.startWindow + 60,
  run: async (context) => {
    const longest = context.settings.timings.startWindow / 2;
    for (const seconds of busySeconds.filter((each) => each <= longest)) {
      const busyUntil = Math.ceil(context.now().getTime() / 1_000) + seconds;
      const extractionId = await extract(context, requestOf('start-busy', { busyUntil, endsAfter: 3 }));
      const done = await readUntil(context, extractionId, 'COMPLETED after 429', isDone);
      expectOutcome(done, 'COMPLETED', 'webhook', 'The log of start-task shows its tries.');
      const tries = await busyTries(context, extractionId);
      if (tries > 0) return passed(`${extractionId} was accepted after ${tries} answers 429`);
    }
    throw new Unmet(
      'No start was answered 429: each came after the fake provider was busy. Run the check again.',
    );
  },
};

export const startRefused: Check = {
  id: 'start-refused',
  title: 'A start that the provider refuses ends as REJECTED',
  turn: 'together',
  seconds: () => 60,
  run: async (context) => {
    const extractionId = await extract(context, requestOf('start-refused', { start: 'refused' }));
    const done = await readUntil(context, extractionId, 'REJECTED', isDone);
    expectOutcome(done, 'REJECTED', 'start', 'The log of start-task has the answer of the provider.');
    return passed(`${extractionId} is REJECTED, reason ${String(done.reason)}`);
  },
};

export const startSilent: Check = {
  id: 'start-silent',
  title: 'A start that gets no answer in time, or a 500, ends as UNCONFIRMED',
  turn: 'together',
  seconds: ({ settings }) => settings.timings.startTimeout + 60,
  run: async (context) => {
    const silent = ['hangs', 'breaks'] as const;
    const ids = await Promise.all(
      silent.map(async (start) => {
        const extractionId = await extract(context, requestOf('start-silent', { start, webhook: 'lost' }));
        const done = await readUntil(context, extractionId, 'UNCONFIRMED', isDone);
        expectOutcome(done, 'UNCONFIRMED', 'start', 'The log of start-task shows what it received.');
        return extractionId;
      }),
    );
    return passed(`${ids.join(' and ')} are UNCONFIRMED, after no answer in time and after a 500`);
  },
};
