import { planOf } from '../planned-behaviour.ts';
import type { Client, LegacyTaskRequest, PolledTask, Sandbox } from '../state-types.ts';
import { progressAt } from '../tasks/task-timing.ts';
import { legacyAnswer } from './legacy-answer.ts';
import type { StartPreset } from './start-presets.ts';

const HOUR_MS = 60 * 60 * 1000;

/** A legacy start with its username. */
type LegacyStart = Pick<LegacyTaskRequest, 'entityId' | 'actionType'> & { readonly username: string };

/** The preset with which a client's restrictions refuse a legacy start. Undefined if it is accepted. */
export const refusedStart = (
  sandbox: Sandbox,
  client: Client,
  start: LegacyStart,
): StartPreset | undefined => {
  const { wrongLoginsPerHour, oneTaskPerUser, tasksPerMonth } = client.restrictions;
  if (wrongLoginsPerHour !== undefined && recentWrongLogins(sandbox, client, start) >= wrongLoginsPerHour) {
    return 'temporarilyRestricted';
  }
  if (oneTaskPerUser === true && isUserBusy(sandbox, client, start.username)) return 'processAlreadyRunning';
  if (tasksPerMonth !== undefined && tasksThisMonth(sandbox, client) >= tasksPerMonth) {
    return 'notEnoughCredits';
  }
  return undefined;
};

const recentWrongLogins = (
  sandbox: Sandbox,
  { clientId }: Client,
  { username, entityId, actionType }: LegacyStart,
): number => {
  const now = sandbox.clock.now();
  const endedWrong = ({ asked, endsAt, ...task }: PolledTask): boolean =>
    asked.kind === 'legacy' &&
    task.clientId === clientId &&
    task.username === username &&
    asked.entityId === entityId &&
    asked.actionType === actionType &&
    endsAt !== null &&
    endsAt <= now &&
    now < endsAt + HOUR_MS &&
    legacyAnswer(asked, username, planOf(sandbox, username), 'ended', endsAt).taskStatus === 'wrong_login';
  return [...sandbox.polledTasks.values()].filter(endedWrong).length;
};

/** Whether a v2 or legacy task of this username is running. */
const isUserBusy = (sandbox: Sandbox, { clientId }: Client, username: string): boolean => {
  const now = sandbox.clock.now();
  const isUsers = (task: { readonly clientId: string; readonly username: string }) =>
    task.clientId === clientId && task.username === username;
  return (
    [...sandbox.tasks.values()].some((task) => isUsers(task) && task.ending === undefined) ||
    [...sandbox.polledTasks.values()].some(
      (task) => isUsers(task) && task.asked.kind === 'legacy' && progressAt(task, now) !== 'ended',
    )
  );
};

const tasksThisMonth = (sandbox: Sandbox, { clientId }: Client): number => {
  const month = monthOf(sandbox.clock.now());
  return [...sandbox.tasks.values(), ...sandbox.polledTasks.values()].filter(
    (task) => task.clientId === clientId && monthOf(task.createdAt) === month,
  ).length;
};

/** `2026-03`, in UTC. */
const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
