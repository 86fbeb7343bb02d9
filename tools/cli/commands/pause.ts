import {
  type BreakerName,
  type BreakerState,
  breakerNames,
  closedBreaker,
  pause as paused,
} from '../../../lib/breaker/breaker-state.ts';
import { changeBreaker } from '../../../lib/breaker/breaker-store.ts';
import { breakersOf } from '../aws/stores.ts';
import { breakerOf, describeBreaker } from '../terminal/describe-breaker.ts';
import { UsageError } from '../terminal/errors.ts';
import type { Context } from './context.ts';

type Which = { readonly starts?: true; readonly reads?: true };
export type PauseOptions = Which & { readonly reason: string };
export type ResumeOptions = Which;

/** Changes breakers, and prints what each then does. */
const change = async (
  names: readonly BreakerName[],
  decide: (state: BreakerState) => BreakerState,
  { shell, connect }: Context,
): Promise<void> => {
  const store = breakersOf(await connect());
  for (const name of names) {
    const { after } = await changeBreaker(store, name, decide, {
      now: shell.now,
      newVersion: shell.randomId,
    });
    const { line, facts } = describeBreaker(breakerOf(name, after.state, shell.now()), shell.now());
    shell.print(line, facts);
  }
  shell.hint('It takes effect within 5 seconds.');
};

/** Holds all calls that start tasks, or read them, until `resume`. */
export const pause = async ({ reason, ...which }: PauseOptions, context: Context): Promise<number> => {
  const names = breakerNames.filter((name) => which[name] === true);
  if (names.length === 0) throw new UsageError('Use --starts, --reads, or both.');
  await change(names, (state) => paused(state, reason, context.shell.now().getTime()), context);
  return 0;
};

/** Lets the calls through again. It also closes a breaker that the provider's failures have opened. */
export const resume = async (which: ResumeOptions, context: Context): Promise<number> => {
  const chosen = breakerNames.filter((name) => which[name] === true);
  await change(chosen.length === 0 ? breakerNames : chosen, () => ({ ...closedBreaker }), context);
  return 0;
};
