import type { StartBehaviour } from '../plan.ts';
import type { Sandbox } from '../state.ts';
import { holdSilent } from '../transport/hold-silent.ts';
import { plannedAnswer } from '../transport/planned-answer.ts';
import { resetConnection } from '../transport/reset-connection.ts';
import { trickle } from '../transport/trickle.ts';
import type { SandboxContext } from '../transport/wire.ts';

/** A valid call that starts a task, of whichever interface. */
export interface StartCall {
  /** The Bearer token that it came with. */
  readonly token: { expiresAt: number };
  /** What taking it means: it creates the task. */
  accept(): TakenStart;
}

export interface TakenStart {
  readonly answer: object;
  /** Ends the task at once; resolves when that many deliveries were made, where there are any. */
  finish(deliveries: number): Promise<void>;
}

/** Treats one valid start call as its plan says. */
export const answerStart = async (
  sandbox: Sandbox,
  c: SandboxContext,
  behaviour: StartBehaviour,
  { token, accept }: StartCall,
): Promise<Response> => {
  const taken = ({ answer }: TakenStart): Response => c.json(answer);
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'expire-session':
      token.expiresAt = sandbox.clock.now();
      return c.json({ message: 'Unauthorized' }, 401);
    case 'reset':
      if (behaviour.taken !== false) accept();
      return resetConnection(c);
    case 'accept':
      return taken(accept());
    case 'accept-then-answer':
      accept();
      return plannedAnswer(behaviour);
    case 'accept-then-silence':
      accept();
      return holdSilent(c);
    case 'slow': {
      const start = accept();
      await sandbox.clock.until(sandbox.clock.now() + behaviour.delayMs, c.req.raw.signal);
      return taken(start);
    }
    case 'trickle':
      return trickle(JSON.stringify(accept().answer));
    case 'finish-first': {
      const start = accept();
      await start.finish(behaviour.answerAfterDeliveries ?? 1);
      return taken(start);
    }
  }
};
