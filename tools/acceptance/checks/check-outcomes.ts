import { outcomes, type Scenario } from '../fake-provider/function/scenario.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import { expectOutcome, extract, isDone, readUntil, requestOf } from './extractions.ts';

/** Long enough for start-task to link the task, so that the webhook and not start-task settles it. */
const endsAfter = 3;

const receiver = 'The logs of receive-webhook and of the fake provider show what became of its webhook.';

const allOutcomes = (id: string, title: string, webhook: Scenario['webhook']): Check => ({
  id,
  title,
  turn: 'together',
  ...(id === webhookArrives ? {} : { dependsOn: webhookArrives }),
  seconds: () => 90,
  run: async (context) => {
    await Promise.all(
      outcomes.map(async (outcome) => {
        const extractionId = await extract(context, requestOf(id, { outcome, webhook, endsAfter }));
        const done = await readUntil(context, extractionId, `${outcome} and collected`, isDone);
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

/** No webhook comes, so that the execution polls once it has waited for it. */
export const webhookLost: Check = {
  id: 'webhook-lost',
  title: 'An extraction whose webhook is lost is settled by a read of the provider',
  turn: 'together',
  seconds: ({ settings }) => settings.timings.deadline + 60,
  run: async (context) => {
    const extractionId = await extract(context, requestOf('webhook-lost', { webhook: 'lost' }));
    const done = await readUntil(context, extractionId, 'COMPLETED by a read', isDone);
    expectOutcome(done, 'COMPLETED', 'reconcile', 'The log of reconcile-extraction shows its reads.');
    return passed(`${extractionId} was settled by a read`);
  },
};

export const webhookEarly: Check = {
  id: 'webhook-early',
  title: 'A webhook that is earlier than the answer of its start call settles the extraction',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const extractionId = await extract(context, requestOf('webhook-early', { start: 'after-webhook' }));
    const done = await readUntil(context, extractionId, 'COMPLETED by its early webhook', isDone);
    expectOutcome(done, 'COMPLETED', 'start', 'The logs of receive-webhook and start-task show the order.');
    return passed(`${extractionId} was settled by start-task, from the webhook that it found`);
  },
};
