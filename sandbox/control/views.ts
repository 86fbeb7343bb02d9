import { consentStateAt } from '../consents/consent-state.ts';
import { OUTCOMES } from '../outcome-table.ts';
import type { Client, Consent, PolledTask, Sandbox, Task } from '../state-types.ts';
import { progressAt, taskStatusAt } from '../tasks/task-timing.ts';

const iso = (time: number): string => new Date(time).toISOString();
const isoIfSet = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : iso(time);

export const summaryView = (sandbox: Sandbox) => {
  const now = sandbox.clock.now();
  return {
    now: iso(now),
    clients: [...sandbox.clients.values()].map(clientView),
    counts: {
      sessions: [...sandbox.tokens.values()].filter(({ kind }) => kind === 'session').length,
      tasks: sandbox.tasks.size,
      calls: sandbox.calls.length,
      plans: sandbox.plans.size,
      consents: sandbox.consents.size,
      polledTasks: sandbox.polledTasks.size,
    },
    outcomes: OUTCOMES,
    // Those that apply to the next call. One that ends with its behaviours has no `endsAt`.
    faults: sandbox.faults
      .filter(({ behaviours, endsAt }) => (endsAt === undefined ? behaviours.length > 0 : endsAt > now))
      .map((fault) => ({ ...fault, endsAt: isoIfSet(fault.endsAt) })),
  };
};
export type Summary = ReturnType<typeof summaryView>;

/** A client without its API key and signing key. */
export const clientView = ({ clientId, widgetConfigId, webhook, restrictions }: Client) => ({
  clientId,
  widgetConfigId,
  webhook: { url: webhook.url, mode: webhook.mode, hasSigningKey: webhook.signingKey !== undefined },
  restrictions,
});
export type ClientView = ReturnType<typeof clientView>;

/** A task without its results. Times are ISO 8601. */
export const taskView = (task: Task, now: number) => {
  const { taskId, clientId, username, businessId, createdAt, ending, deliveries } = task;
  return {
    taskId,
    clientId,
    username,
    businessId,
    taskStatus: taskStatusAt(task, now),
    createdAt: iso(createdAt),
    finishedAt: isoIfSet(ending?.finishedAt),
    deliveries,
  };
};
export type TaskView = ReturnType<typeof taskView>;

/** A consent with its real state, and its overrides apart. Times are ISO 8601. */
export const consentView = (consent: Consent, now: number) => {
  const { consentId, clientId, owner, products, entity, validUntil, shown, listed } = consent;
  const { status, subStatus, terminatedAt } = consentStateAt(consent, now);
  return {
    consentId,
    clientId,
    owner,
    products,
    entity,
    status,
    subStatus,
    validUntil: iso(validUntil),
    terminatedAt: isoIfSet(terminatedAt),
    shown,
    listed,
  };
};
export type ConsentView = ReturnType<typeof consentView>;

/** A task of the consent flow or of the legacy interface, with its request. */
export const polledTaskView = (task: PolledTask, now: number) => {
  const { taskId, clientId, username, asked, createdAt } = task;
  const progress = progressAt(task, now);
  return { taskId, clientId, username, asked, progress, createdAt: iso(createdAt) };
};
export type PolledTaskView = ReturnType<typeof polledTaskView>;
