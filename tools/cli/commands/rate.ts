import { defined } from '../../../lib/defined.ts';
import { identityOf } from '../aws/identity.ts';
import { readLineHistory } from '../aws/read-line-history.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { breakersOf } from '../aws/stores.ts';
import { clearRate, setRate } from '../operate/change-holds.ts';
import { describeRate, waitingIn } from '../terminal/describe-rate.ts';
import { UsageError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';
import { watchRate } from './watch-rate.ts';

type RateOptions = { readonly reason?: string; readonly clear?: true; readonly watch?: true };

/** Between two reads. On AWS, each is five metrics and queries of the line. */
const watching = {
  onAws: { periodSeconds: 60, everyMs: 10_000 },
  emulated: { periodSeconds: 10, everyMs: 2_000 },
};

export const rate = async (
  perSecond: number | undefined,
  { reason, clear, watch }: RateOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  if (clear && perSecond !== undefined) throw new UsageError('Name a rate, or use --clear.');
  if (perSecond !== undefined && reason === undefined) throw new UsageError('Say why with --reason.');
  if (perSecond === undefined && reason !== undefined)
    throw new UsageError('--reason is of a rate: name it.');
  if (watch && (clear || perSecond !== undefined)) throw new UsageError('--watch changes no rate.');
  const deployment = await connect();
  if (watch) {
    const times = deployment.isEmulated ? watching.emulated : watching.onAws;
    const { periodSeconds } = times;
    const readRate = () => readStartRate(deployment, shell.now());
    const readHistory = (since: Date) =>
      readLineHistory(deployment, { since, until: shell.now(), periodSeconds });
    return watchRate({ ...times, readRate, readHistory }, shell);
  }
  const breakers = breakersOf(deployment);
  const deps = { now: shell.now, newVersion: shell.randomId };
  if (clear) await clearRate(breakers, deps);
  if (perSecond !== undefined && reason !== undefined) {
    const by = await identityOf(deployment);
    const since = shell.now().getTime();
    await setRate(breakers, { perSecond, reason, since, ...defined({ by }) }, deps);
  }
  const found = await readStartRate(deployment, shell.now());
  const { lanes, ...rest } = found;
  shell.print([...describeRate(found, shell.now())], {
    ...rest,
    waiting: waitingIn(found),
    lanes: lanes.map(({ caller, priority, waiting }) => ({ caller, priority, waiting: waiting.length })),
  });
  if (clear || perSecond !== undefined) shell.hint('It takes effect within 5 seconds.');
  return 0;
};
