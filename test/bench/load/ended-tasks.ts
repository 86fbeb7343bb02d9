import { startTask } from '../../../lib/provider/tasks/start-task.ts';
import type { TaskRequest } from '../../../lib/provider/tasks/task-request.ts';
import { logIn } from '../../../lib/provider/tokens/log-in.ts';
import { limitTo } from '../../../tools/acceptance/checks/limit-to.ts';
import { bodyByCredentials } from '../request-body.ts';
import type { MeasuredSystem } from './measured-system.ts';

/** Starts tasks at the provider that end at once, and of which it sends no webhook. */
export const endedTasks = async ({ access, provider }: MeasuredSystem, count: number): Promise<string[]> => {
  const connection = {
    baseUrl: access.baseUrl,
    fetch,
    totalTimeoutMs: 60_000,
    maxAnswerBytes: 64 * 1_024,
  };
  const token = await logIn(connection, access.apiKey);
  await provider.setPlan('drained', { outcome: 'COMPLETED', durationMs: 0 });
  const { entity, credentials, actions } = bodyByCredentials('drained');
  const atOnce = limitTo(16);
  const start = () => startTask(connection, token, { entity, credentials, actions } as TaskRequest);
  return Promise.all(Array.from({ length: count }, () => atOnce(start)));
};
