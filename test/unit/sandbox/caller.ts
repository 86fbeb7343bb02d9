import type { RunningSandbox } from '../../sandbox/sandbox.ts';

/** A client of the sandbox that uses only fetch. */
export const callerOf = ({ baseUrl, apiKey }: Pick<RunningSandbox, 'baseUrl' | 'apiKey'>) => {
  const caller = {
    login: async (expire?: number): Promise<string> => {
      const response = await fetch(`${baseUrl}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey },
        body: JSON.stringify(expire === undefined ? {} : { expire }),
      });
      return ((await response.json()) as { token: string }).token;
    },
    start: (token: string, body: unknown) =>
      fetch(`${baseUrl}/api/v2/tasks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }),
    read: (token: string, taskId: string) =>
      fetch(`${baseUrl}/api/v2/tasks/${taskId}`, { headers: { authorization: `Bearer ${token}` } }),
    /** Logs in, starts a task that must be accepted, and returns its id. */
    startTask: async (request: unknown): Promise<string> => {
      const response = await caller.start(await caller.login(), request);
      return ((await response.json()) as { taskId: string }).taskId;
    },
    readTask: async (taskId: string): Promise<{ taskStatus: string; results: unknown }> => {
      const response = await caller.read(await caller.login(), taskId);
      return (await response.json()) as { taskStatus: string; results: unknown };
    },
  };
  return caller;
};

/** A valid request with raw credentials. `more` overrides its fields. */
export const requestFor = (username: string, more: Readonly<Record<string, unknown>> = {}) => ({
  entity: 'demo-bank',
  credentials: { mode: 'raw', value: { username, password: 'any-password', businessId: '77777777-7' } },
  actions: [{ id: 'product-balance' }, { id: 'tef' }],
  ...more,
});
