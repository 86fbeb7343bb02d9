import type { Extraction } from '../../lib/extraction/record.ts';
import { newNationalId } from '../sandbox/consents/national-id.ts';
import type { Plan } from '../sandbox/plan-schemas.ts';
import type { Extractions, One } from './extractions.ts';

/** An extraction that is in a state while another version is deployed. */
export type Case = {
  readonly bring: (system: Extractions) => Promise<One>;
  /** It lasts for seconds only, so it is brought just before the deployment. */
  readonly isBrief?: true;
  /** After the deployment. */
  readonly goOn?: (system: Extractions, one: One) => Promise<unknown>;
  readonly ends: (record: Extraction) => boolean;
};

const open: Plan = { durationMs: null };
const withoutWebhook: Plan = { ...open, webhook: { enabled: false } };

const linked = async (system: Extractions, plan: Plan): Promise<One> => {
  const one = await system.requestWith(plan);
  await system.linked(one);
  return one;
};

const finish = async ({ provider, until }: Extractions, one: One): Promise<unknown> => {
  const { taskId = '', method } = await until(one, 'started', (record) => record.taskId);
  return method === 'consent' ? provider.finishPolled(taskId) : provider.finish(taskId, 'COMPLETED');
};

/**
 * The emulator kills functions that run, which AWS does not, and the machine does not learn that. So a start that it interrupts ends
 * without a task, or as one that nobody knows.
 */
export const unlessKilled = (record: Extraction): boolean =>
  completed(record) || record.status === 'UNCONFIRMED' || record.status === 'NOT_STARTED';

const completed = ({ status, collectedAt }: Extraction) =>
  status === 'COMPLETED' && collectedAt !== undefined;
const completedBy = (by: string) => (record: Extraction) => completed(record) && record.settledBy === by;

export const cases: Readonly<Record<string, Case>> = {
  'waiting for the webhook': {
    bring: (system) => linked(system, open),
    goOn: finish,
    ends: completedBy('webhook'),
  },
  'polled by the machine': {
    bring: async (system) => {
      const one = await linked(system, withoutWebhook);
      await system.endWebhookWait(one);
      return one;
    },
    goOn: finish,
    ends: completedBy('reconcile'),
  },
  'polled by the queue, by consent': {
    bring: async (system) => {
      const one = await system.requestByConsent(newNationalId());
      await system.until(one, 'RUNNING', ({ status }) => status === 'RUNNING');
      return one;
    },
    goOn: finish,
    ends: completed,
  },
  'with a message that is delayed until after the deployment': {
    bring: async (system) => {
      const one = await linked(system, withoutWebhook);
      await system.send({ extractionId: one.extractionId, cause: 'sweep' }, 60);
      await finish(system, one);
      return one;
    },
    ends: completedBy('reconcile'),
  },
  'requested and held, as the provider is busy': {
    bring: async (system) => {
      const one = await system.requestWith({ startForever: { kind: 'answer', status: 429 } });
      await system.until(one, 'held', ({ lastProblem }) => lastProblem === 'http-429');
      return one;
    },
    goOn: ({ provider }, { username }) => provider.setPlan(username, { durationMs: 300 }),
    ends: unlessKilled,
  },
  'starting, with a call that hangs': {
    isBrief: true,
    bring: async (system) => {
      const one = await system.requestWith({ durationMs: 300, start: [{ kind: 'slow', delayMs: 5_000 }] });
      await system.until(one, 'starting', ({ status }) => status !== 'REQUESTED');
      return one;
    },
    // It finds a start that was killed before the sweep would.
    goOn: (system, { extractionId }) => system.send({ extractionId, cause: 'sweep' }, 40),
    ends: unlessKilled,
  },
  'TIMED_OUT, in grace': {
    bring: async (system) => {
      const one = await linked(system, open);
      await system.passDeadline(one);
      await system.endWebhookWait(one);
      await system.until(one, 'TIMED_OUT', ({ status }) => status === 'TIMED_OUT');
      return one;
    },
    goOn: finish,
    ends: completed,
  },
  'settled, and not collected': {
    bring: async (system) => {
      const one = await linked(system, { ...open, readForever: { kind: 'answer', status: 503 } });
      await finish(system, one);
      await system.until(one, 'settled', ({ settledAt }) => settledAt);
      return one;
    },
    goOn: ({ provider }, { username }) => provider.setPlan(username, {}),
    ends: completedBy('webhook'),
  },
};
