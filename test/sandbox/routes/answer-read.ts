import type { ReadBehaviour } from '../plan-schemas.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxContext } from '../transport/hono-types.ts';
import { holdSilent, plannedAnswer, resetConnection } from '../transport/misbehave.ts';

/** A read of an existing task, of any interface. */
export type ReadCall = {
  /** The Bearer token of the call. */
  readonly token: { expiresAt: number };
  /** The answer if nothing else is planned. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Answers a read of a task as planned. Undefined behaviour: normally. */
export const answerRead = (
  sandbox: Sandbox,
  c: SandboxContext,
  behaviour: ReadBehaviour | undefined,
  { token, status, body }: ReadCall,
): Response | Promise<Response> => {
  switch (behaviour?.kind) {
    case undefined:
      return plannedAnswer({ status, body });
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'reset':
      return resetConnection(c);
    case 'expire-session':
      token.expiresAt = sandbox.clock.now();
      return c.json({ message: 'Unauthorized' }, 401);
    case 'status':
      return plannedAnswer({ status, body: { ...body, taskStatus: behaviour.taskStatus } });
    case 'big': {
      const results = isObject(body.results) ? body.results : {};
      const filler = 'x'.repeat(behaviour.bytes);
      return plannedAnswer({ status, body: { ...body, results: { ...results, filler } } });
    }
  }
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
