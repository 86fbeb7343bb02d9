import { outcomes, type Scenario } from '../fake-provider/function/scenario.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import {
  expectOutcome,
  extract,
  extractUntilDone,
  isDone,
  readUntil,
  requestOf,
} from './request-and-await.ts';

/** Long enough for start-task to link the task, so that the webhook and not start-task settles it. */
const endsAfter = 3;

const receiver = 'The logs of receive-webhook and of the fake provider show what became of its webhook.';

const allOutcomes = (id: string, title: string, webhook: Scenario['webhook']): Check => ({
  id,
  title,
  ...(id === webhookArrives ? {} : { dependsOn: webhookArrives }),
  seconds: () => 90,
  run: async (context) => {
    await Promise.all(
      outcomes.map(async (outcome) => {
        const scenario = { outcome, webhook, endsAfter };
        const done = await extractUntilDone(context, id, scenario, `${outcome} and collected`);
        expectOutcome(done, outcome, 'webhook', receiver);
      }),
    );
    return passed(`${outcomes.join(', ')}, each settled by its webhook`);
  },
});

export const outcomesPlain = allOutcomes(
  webhookArrives,
  'Each of the five final statuses arrives by a plain webhook',
  'plain',
);

export const outcomesEncrypted = allOutcomes(
  'outcomes-encrypted',
  'Each of the five final statuses arrives by an encrypted webhook',
  'encrypted',
);

/** No webhook comes, so that the execution polls once its wait is over. */
export const webhookLost: Check = {
  id: 'webhook-lost',
  title: 'An extraction whose webhook is lost is settled by a read of the provider',
  seconds: ({ settings }) => settings.timings.deadline + 60,
  run: async (context) => {
    const done = await extractUntilDone(context, 'webhook-lost', { webhook: 'lost' }, 'COMPLETED by a read');
    expectOutcome(done, 'COMPLETED', 'reconcile', 'The log of reconcile-extraction shows its reads.');
    return passed(`${done.extractionId} was settled by a read`);
  },
};

export const webhookEarly: Check = {
  id: 'webhook-early',
  title: 'A webhook that is earlier than the answer of its start call settles the extraction',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const scenario = { start: 'after-webhook' } as const;
    const done = await extractUntilDone(context, 'webhook-early', scenario, 'COMPLETED by its early webhook');
    expectOutcome(done, 'COMPLETED', 'start', 'The logs of receive-webhook and start-task show the order.');
    return passed(`${done.extractionId} was settled by start-task, from the webhook that it found`);
  },
};

export const timeoutCorrected: Check = {
  id: 'timeout-corrected',
  title: 'A task without end by the deadline is TIMED_OUT, and its later final status corrects that',
  seconds: ({ lateTaskSeconds }) => lateTaskSeconds + 120,
  run: async (context) => {
    const scenario = { outcome: 'PARTIAL', endsAfter: context.lateTaskSeconds } as const;
    const extractionId = await extract(context, requestOf('timeout-corrected', scenario));
    const timedOut = await readUntil(
      context,
      extractionId,
      'TIMED_OUT',
      ({ status, settledAt }) => status === 'TIMED_OUT' || settledAt !== undefined,
    );
    expectOutcome(timedOut, 'TIMED_OUT', 'reconcile', 'Compare its deadlineAt with its settledAt.');
    const corrected = await readUntil(
      context,
      extractionId,
      'corrected to PARTIAL and collected',
      (extraction) => extraction.status === 'PARTIAL' && isDone(extraction),
    );
    return passed(
      `TIMED_OUT at ${String(timedOut.settledAt)}, corrected by the ${String(corrected.settledBy)} at ${String(corrected.settledAt)}`,
    );
  },
};
