import type { CallBehaviour } from '../plan.ts';
import { holdSilent } from './hold-silent.ts';
import { plannedAnswer } from './planned-answer.ts';
import { resetConnection } from './reset-connection.ts';
import { trickle } from './trickle.ts';
import type { SandboxContext } from './wire.ts';

/** Answers a call as a fault demands, whatever its content. */
export const misbehave = (behaviour: CallBehaviour, c: SandboxContext): Response | Promise<Response> => {
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'reset':
      return resetConnection(c);
    case 'trickle':
      return trickle(JSON.stringify(behaviour.body ?? {}));
  }
};
