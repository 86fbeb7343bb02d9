import { type Check, passed, Unmet, webhookArrives } from './check.ts';
import { expectOutcome, extractUntilDone, readHistory } from './request-and-await.ts';

/**
 * For how long the fake provider is busy, in seconds: some three releases of the dispatcher. Longer where the first try came too
 * late, as on a slow machine with an emulator, but at most for half of the start window.
 */
const busySeconds = [8, 20, 60, 180];

export const startBusy: Check = {
  id: 'start-busy',
  title: 'A start that a busy provider answers 429 waits in line, and is released until it is accepted',
  dependsOn: webhookArrives,
  seconds: ({ settings }) => 2 * settings.timings.startWindow + 60,
  run: async (context) => {
    const longest = context.settings.timings.startWindow / 2;
    for (const seconds of busySeconds.filter((each) => each <= longest)) {
      const busyUntil = Math.ceil(context.now().getTime() / 1_000) + seconds;
      const scenario = { busyUntil, endsAfter: 3 };
      const done = await extractUntilDone(context, 'start-busy', scenario, 'COMPLETED after 429');
      expectOutcome(done, 'COMPLETED', 'webhook', 'The log of start-task shows its tries.');
      const history = await readHistory(context, done.extractionId);
      const { length } = history.filter(({ error }) => error === 'Waits');
      if (length > 0)
        return passed(`${done.extractionId} was accepted after it waited in line ${length} times`);
    }
    throw new Unmet(
      'No start was answered 429: each came after the fake provider was busy. Run the check again.',
    );
  },
};

export const startRefused: Check = {
  id: 'start-refused',
  title: 'A start that the provider refuses ends as REJECTED',
  run: async (context) => {
    const done = await extractUntilDone(context, 'start-refused', { start: 'refused' }, 'REJECTED');
    expectOutcome(done, 'REJECTED', 'start', 'The log of start-task has the answer of the provider.');
    return passed(`${done.extractionId} is REJECTED, reason ${String(done.reason)}`);
  },
};

export const startSilent: Check = {
  id: 'start-silent',
  title: 'A start that gets no answer in time, or a 500, ends as UNCONFIRMED',
  seconds: ({ settings }) => settings.timings.startTimeout + 60,
  run: async (context) => {
    const silent = ['hangs', 'breaks'] as const;
    const ids = await Promise.all(
      silent.map(async (start) => {
        const scenario = { start, webhook: 'lost' } as const;
        const done = await extractUntilDone(context, 'start-silent', scenario, 'UNCONFIRMED');
        expectOutcome(done, 'UNCONFIRMED', 'start', 'The log of start-task shows what it received.');
        return done.extractionId;
      }),
    );
    return passed(`${ids.join(' and ')} are UNCONFIRMED, after no answer in time and after a 500`);
  },
};
