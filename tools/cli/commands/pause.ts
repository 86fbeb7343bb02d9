import { defined } from '../../../lib/defined.ts';
import { type PausableCalls, pausableCalls } from '../../../lib/shared-item/operator-settings.ts';
import { identityOf } from '../aws/identity.ts';
import { type Breakers, breakersOf, readHolds } from '../aws/stores.ts';
import { pauseCalls, resumeCalls } from '../operate/change-holds.ts';
import { describeHolds } from '../terminal/describe-hold.ts';
import { UsageError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

type Which = { readonly [Calls in PausableCalls]?: true };
type PauseOptions = Which & { readonly reason: string };

const printHolds = async (calls: readonly PausableCalls[], breakers: Breakers, { shell }: CommandContext) => {
  const holds = await readHolds(breakers, shell.now());
  for (const one of calls) {
    const held = holds.filter((hold) => hold.calls === one);
    const lines = held.length === 0 ? [`${one} are not held`] : describeHolds(held, shell.now());
    shell.print(lines, { calls: one, holds: held });
  }
  shell.hint('It takes effect within 5 seconds.');
};

const chosenOf = (which: Which): readonly PausableCalls[] =>
  pausableCalls.filter((calls) => which[calls] === true);

const depsOf = ({ shell }: CommandContext) => ({ now: shell.now, newVersion: shell.randomId });

export const pause = async ({ reason, ...which }: PauseOptions, context: CommandContext): Promise<number> => {
  const chosen = chosenOf(which);
  if (chosen.length === 0) throw new UsageError('Use --starts, --reads, or both.');
  const deployment = await context.connect();
  const breakers = breakersOf(deployment);
  const by = await identityOf(deployment);
  const since = context.shell.now().getTime();
  for (const calls of chosen) {
    await pauseCalls(breakers, calls, defined({ since, reason, by }), depsOf(context));
  }
  await printHolds(chosen, breakers, context);
  return 0;
};

export const resume = async (which: Which, context: CommandContext): Promise<number> => {
  const chosen = chosenOf(which);
  const calls = chosen.length === 0 ? pausableCalls : chosen;
  const breakers = breakersOf(await context.connect());
  for (const one of calls) await resumeCalls(breakers, one, depsOf(context));
  await printHolds(calls, breakers, context);
  return 0;
};
