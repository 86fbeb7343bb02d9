import type { Sandbox } from './state.ts';

/** Removes all state but the clients, and cancels pending task ends and deliveries. */
export const resetSandbox = (sandbox: Sandbox): void => {
  sandbox.pending.abort();
  sandbox.pending = new AbortController();
  sandbox.sessions.clear();
  sandbox.otpTokens.clear();
  sandbox.taskTokens.clear();
  sandbox.consents.clear();
  sandbox.openPages.clear();
  sandbox.tasks.clear();
  sandbox.polledTasks.clear();
  sandbox.plans.clear();
  sandbox.faults = [];
  sandbox.calls = [];
  for (const client of sandbox.clients.values()) {
    client.loginBehaviours = [];
    client.restrictions = {};
  }
  sandbox.events.clear();
  sandbox.events.append({ type: 'reset' });
};
