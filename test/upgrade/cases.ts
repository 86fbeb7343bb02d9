import { memoize } from '#lib/memoize.ts';
import { newNationalId } from '../../sandbox/consents/national-id.ts';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import type { Cases } from '../../tools/acceptance/checks/update-in-place.ts';
import type { Extractions, One } from './extractions.ts';

const open: Plan = { durationMs: null };
const withoutWebhook: Plan = { ...open, webhook: { enabled: false } };

const finish = async ({ provider, until }: Extractions, one: One): Promise<unknown> => {
  const { taskId = '', method } = await until(one, ({ taskId }) => taskId);
  return method === 'consent' ? provider.finishPolled(taskId) : provider.finish(taskId, 'COMPLETED');
};

const linked = async (system: Extractions, plan: Plan): Promise<One> => {
  const one = await system.requestWith(plan);
  await system.linked(one);
  return { ...one, goOn: () => finish(system, one) };
};

/** How the sandbox brings an extraction into each state that an update may find. */
export const casesOf = (system: Extractions): Cases<One> => ({
  'waiting for the webhook': () => linked(system, open),
  'polled by the machine': async () => {
    const one = await linked(system, withoutWebhook);
    await system.endWebhookWait(one);
    return one;
  },
  'polled by the queue, by consent': async () => {
    const one = await system.requestByConsent(newNationalId());
    await system.until(one, ({ status }) => status === 'RUNNING');
    return { ...one, goOn: () => finish(system, one) };
  },
  'with a message that is delayed until after the update': async () => {
    const { goOn: _, ...one } = await linked(system, withoutWebhook);
    await system.send({ extractionId: one.extractionId, cause: 'sweep' }, 'upgrade', 60);
    await finish(system, one);
    return one;
  },
  'TIMED_OUT, in grace': async () => {
    const one = await linked(system, open);
    await system.passDeadline(one);
    await system.endWebhookWait(one);
    await system.until(one, ({ status }) => status === 'TIMED_OUT');
    return one;
  },
  'settled, and not collected': async () => {
    const one = await linked(system, { ...open, readForever: { kind: 'answer', status: 503 } });
    await finish(system, one);
    await system.until(one, ({ settledAt }) => settledAt);
    return { ...one, goOn: () => system.provider.setPlan(one.username, {}) };
  },
});

/** They last for seconds only. Starts are paused after the first, so that the other waits in line until the update is over. */
export const briefCasesOf = (system: Extractions): Cases<One> => {
  const starting = memoize(async (): Promise<One> => {
    const one = await system.requestWith({ durationMs: 300, start: [{ kind: 'slow', delayMs: 5_000 }] });
    await system.until(one, ({ status }) => status !== 'REQUESTED');
    return one;
  });
  const inLine = async (): Promise<One> => {
    await starting();
    await system.pauseStarts();
    for (;;) {
      const one = await system.requestWith({ durationMs: 300 });
      // A process sees the pause up to 5 s later.
      if (await system.waitsInLine(one)) return { ...one, goOn: system.resumeStarts };
    }
  };
  return {
    'starting, with a slow call': starting,
    'in line, as starts are paused': inLine,
  };
};
