import { START_PRESETS } from '../legacy/presets.ts';
import type { StartBehaviour } from '../plan-schemas.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxContext } from '../transport/hono-types.ts';
import { holdSilent, plannedAnswer, resetConnection, trickle } from '../transport/misbehave.ts';

/** A valid start call, of any interface. */
export interface StartCall {
  /** The Bearer token of the call. */
  readonly token: { expiresAt: number };
  /** Accepts the call: creates the task. */
  accept(): AcceptedStart;
}

export interface AcceptedStart {
  readonly answer: object;
  /** Ends the task at once. Resolves after the first accepted delivery, or when there will be none. */
  finish(): Promise<void>;
}

/** Answers a valid start call as planned. */
export const answerStart = async (
  sandbox: Sandbox,
  c: SandboxContext,
  behaviour: StartBehaviour,
  { token, accept }: StartCall,
): Promise<Response> => {
  const answered = ({ answer }: AcceptedStart): Response => c.json(answer);
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
    case 'refuse': {
      const { status, text } = START_PRESETS[behaviour.preset];
      return c.text(text, status);
    }
    case 'accept':
      return answered(accept());
    case 'accept-then-answer':
      accept();
      return plannedAnswer(behaviour);
    case 'accept-then-silence':
      accept();
      return holdSilent(c);
    case 'slow': {
      const start = accept();
      await sandbox.clock.until(sandbox.clock.now() + behaviour.delayMs, c.req.raw.signal);
      return answered(start);
    }
    case 'trickle':
      return trickle(JSON.stringify(accept().answer));
    case 'finish-first': {
      const start = accept();
      await start.finish();
      return answered(start);
    }
  }
};
