import { presetAnswer } from '../legacy/presets.ts';
import type { ReadBehaviour, StartBehaviour } from '../plan-schemas.ts';
import { nextReadBehaviour, nextStartBehaviour } from '../planned-behaviour.ts';
import { takesStart } from '../registered-client.ts';
import type { Sandbox, Session, TaskToken } from '../state-types.ts';
import type { AcceptedStart } from '../tasks/create-task.ts';
import type { SandboxContext } from '../transport/hono-types.ts';
import { misbehave, plannedAnswer, resetConnection, trickle } from '../transport/misbehave.ts';

/** A valid call of a user, of any interface, with its Bearer token. */
type UserCall = { readonly username: string; readonly token: Session | TaskToken };

type StartCall = UserCall & {
  /** Creates the task. */
  readonly accept: () => AcceptedStart;
  /** The answer that names the task. */
  readonly started?: (taskId: string) => object;
};

/** Answers a valid start call as planned, or 429 above the client's rate. That uses up no behaviour. */
export const answerStart = async (
  sandbox: Sandbox,
  c: SandboxContext,
  { username, token, accept, started = (taskId) => ({ taskId }) }: StartCall,
): Promise<Response> => {
  const begin = () => {
    const { taskId, finish } = accept();
    c.get('call').taskId = taskId;
    return { answer: started(taskId), finish };
  };
  const client = sandbox.clients.get(token.clientId);
  if (client !== undefined && !takesStart(client, sandbox.clock.now())) {
    return plannedAnswer({ status: 429 });
  }
  const behaviour: StartBehaviour = nextStartBehaviour(sandbox, username);
  switch (behaviour.kind) {
    case 'expire-session':
      return expireSession(sandbox, c, token);
    case 'reset':
      if (behaviour.taken !== false) begin();
      return resetConnection(c);
    case 'refuse':
      return presetAnswer(c, behaviour.preset);
    case 'accept':
      return c.json(begin().answer);
    case 'accept-then-answer':
      begin();
      return plannedAnswer(behaviour);
    case 'accept-then-silence':
      begin();
      return misbehave({ kind: 'silence' }, c);
    case 'slow': {
      const { answer } = begin();
      await sandbox.clock.until(sandbox.clock.now() + behaviour.delayMs, c.req.raw.signal);
      return c.json(answer);
    }
    case 'trickle':
      return trickle(JSON.stringify(begin().answer));
    case 'finish-first': {
      const { answer, finish } = begin();
      await finish();
      return c.json(answer);
    }
    default:
      return misbehave(behaviour, c);
  }
};

/** A read of an existing task, with the answer if nothing else is planned. */
type ReadCall = UserCall & {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Answers a read of a task as planned. */
export const answerRead = (
  sandbox: Sandbox,
  c: SandboxContext,
  { username, token, status, body }: ReadCall,
): Response | Promise<Response> => {
  const behaviour: ReadBehaviour | undefined = nextReadBehaviour(sandbox, username);
  if (behaviour === undefined) return plannedAnswer({ status, body });
  switch (behaviour.kind) {
    case 'expire-session':
      return expireSession(sandbox, c, token);
    case 'status':
      return plannedAnswer({ status, body: { ...body, taskStatus: behaviour.taskStatus } });
    case 'big': {
      const results = isObject(body.results) ? body.results : {};
      const filler = 'x'.repeat(behaviour.bytes);
      return plannedAnswer({ status, body: { ...body, results: { ...results, filler } } });
    }
    default:
      return misbehave(behaviour, c);
  }
};

const expireSession = (sandbox: Sandbox, c: SandboxContext, token: UserCall['token']): Response => {
  token.expiresAt = sandbox.clock.now();
  return c.json({ message: 'Unauthorized' }, 401);
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
