import type { SandboxControl } from '../../../sandbox/control-client.ts';

/** How the sandbox answered the calls that start a task. */
export const countStarts = async (provider: SandboxControl) => {
  const calls = await provider.calls({ method: 'POST', path: '/api/v2/tasks' });
  const counted = (status: number): number => calls.filter((call) => call.status === status).length;
  return { accepted: counted(200), refused: counted(429) };
};
