import type { Sandbox } from './state.ts';

/** Forgets sessions, tasks, calls, plans and events, and stops what was still to happen. Clients stay. */
export function resetSandbox(sandbox: Sandbox): void {
  sandbox.pending.abort();
  sandbox.pending = new AbortController();
  sandbox.sessions.clear();
  sandbox.tasks.clear();
  sandbox.plans.clear();
  sandbox.calls = [];
  for (const client of sandbox.clients.values()) client.loginBehaviours = [];
  sandbox.events.clear();
  sandbox.events.append({ type: 'reset' });
}
