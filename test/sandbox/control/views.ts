import { consentStateAt } from '../consents/consent-state.ts';
import { OUTCOMES, type OutcomeRow } from '../outcome-table.ts';
import type { Fault, Restrictions } from '../plan-schemas.ts';
import type {
  Client,
  Consent,
  ConsentOverride,
  Delivery,
  PolledTask,
  Sandbox,
  Task,
} from '../state-types.ts';
import type { TaskStatus } from '../task-vocabulary.ts';
import { type Progress, progressAt, taskStatusAt } from '../tasks/task-timing.ts';

/** A task without its results. Times are ISO 8601. */
export type TaskView = {
  readonly taskId: string;
  readonly clientId: string;
  readonly username: string;
  readonly businessId?: string;
  readonly taskStatus: TaskStatus;
  readonly createdAt: string;
  readonly finishedAt?: string;
  readonly deliveries: readonly Delivery[];
};

/** A client without its API key and signing key. */
export type ClientView = {
  readonly clientId: string;
  readonly widgetConfigId: string;
  readonly webhook: { readonly url?: string; readonly mode: string; readonly hasSigningKey: boolean };
  readonly restrictions: Restrictions;
};

export type Summary = {
  readonly now: string;
  readonly clients: readonly ClientView[];
  readonly counts: {
    readonly sessions: number;
    readonly tasks: number;
    readonly calls: number;
    readonly plans: number;
    readonly consents: number;
    readonly polledTasks: number;
  };
  readonly outcomes: readonly OutcomeRow[];
  /** The faults that apply to the next call. `endsAt` is absent for one that ends with its behaviours. */
  readonly faults: readonly (Fault & { readonly endsAt?: string })[];
};

export const summaryView = (sandbox: Sandbox): Summary => ({
  now: new Date(sandbox.clock.now()).toISOString(),
  clients: [...sandbox.clients.values()].map(clientView),
  counts: {
    sessions: sandbox.sessions.size,
    tasks: sandbox.tasks.size,
    calls: sandbox.calls.length,
    plans: sandbox.plans.size,
    consents: sandbox.consents.size,
    polledTasks: sandbox.polledTasks.size,
  },
  outcomes: OUTCOMES,
  faults: sandbox.faults
    .filter(({ behaviours, endsAt }) =>
      endsAt === undefined ? behaviours.length > 0 : endsAt > sandbox.clock.now(),
    )
    .map(({ endsAt, ...fault }) => ({
      ...fault,
      ...(endsAt === undefined ? {} : { endsAt: new Date(endsAt).toISOString() }),
    })),
});

export const clientView = ({
  clientId,
  widgetConfigId,
  webhook: { url, mode, signingKey },
  restrictions,
}: Client): ClientView => ({
  clientId,
  widgetConfigId,
  webhook: { ...(url === undefined ? {} : { url }), mode, hasSigningKey: signingKey !== undefined },
  restrictions,
});

export const taskView = (task: Task, now: number): TaskView => {
  const { taskId, clientId, username, businessId, ending, deliveries } = task;
  return {
    taskId,
    clientId,
    username,
    ...(businessId === undefined ? {} : { businessId }),
    taskStatus: taskStatusAt(task, now),
    createdAt: new Date(task.createdAt).toISOString(),
    ...(ending === undefined ? {} : { finishedAt: new Date(ending.finishedAt).toISOString() }),
    deliveries,
  };
};

/** A consent with its real state, and its overrides apart. Times are ISO 8601. */
export type ConsentView = {
  readonly consentId: string;
  readonly clientId: string;
  readonly owner: string;
  readonly products: readonly string[];
  readonly entity: Consent['entity'];
  readonly status: string;
  readonly subStatus: string;
  readonly validUntil: string;
  readonly terminatedAt?: string;
  readonly shown: ConsentOverride;
  readonly listed: ConsentOverride;
};

export const consentView = (consent: Consent, now: number): ConsentView => {
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
    validUntil: new Date(validUntil).toISOString(),
    ...(terminatedAt === undefined ? {} : { terminatedAt: new Date(terminatedAt).toISOString() }),
    shown,
    listed,
  };
};

/** A task of the consent flow or of the legacy interface, with its request. */
export type PolledTaskView = {
  readonly taskId: string;
  readonly clientId: string;
  readonly username: string;
  readonly asked: PolledTask['asked'];
  readonly progress: Progress;
  readonly createdAt: string;
};

export const polledTaskView = (task: PolledTask, now: number): PolledTaskView => {
  const { taskId, clientId, username, asked, createdAt } = task;
  return {
    taskId,
    clientId,
    username,
    asked,
    progress: progressAt(task, now),
    createdAt: new Date(createdAt).toISOString(),
  };
};
