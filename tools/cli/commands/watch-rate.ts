import type { LineHistory, LinePeriod, RateChange } from '../aws/read-line-history.ts';
import type { Shell } from '../terminal/command-environment.ts';
import {
  describeRateChange,
  describeWaiting,
  formatRate,
  type StartRate,
} from '../terminal/describe-rate.ts';
import { exitCodes } from '../terminal/errors.ts';

type WatchRateDeps = {
  readonly readRate: () => Promise<StartRate>;
  readonly readHistory: (since: Date) => Promise<LineHistory>;
  readonly periodSeconds: number;
  /** How often it reads, in milliseconds. */
  readonly everyMs: number;
};

/** Periods that are printed of what was before. */
const periodsBefore = 10;

const bar = '▁▂▃▄▅▆▇█';

/** A bar of eight heights. The highest of those printed so far is full. */
const heightOf = (value: number, max: number): string =>
  value === 0 ? ' ' : (bar[Math.ceil((8 * value) / Math.max(max, 1)) - 1] ?? ' ');

const heading = `${'TIME (UTC)'.padEnd(10)} ${'WAIT'.padStart(9)} ${'STARTED'.padStart(9)} ${'REFUSED'.padStart(9)} ${'RATE'.padStart(9)}`;

const count = (value: number | undefined): string =>
  (value === undefined ? '–' : value.toLocaleString('en')).padStart(9);

const row = ({ at, waiting, started, refused, perSecond }: LinePeriod, max: number): string => {
  const time = new Date(at).toISOString().slice(11, 19).padEnd(10);
  const rate = (perSecond === undefined ? '–' : `${formatRate(perSecond)}/s`).padStart(9);
  return `${time} ${count(waiting)} ${count(started)} ${count(refused)} ${rate}  ${heightOf(waiting ?? 0, max)}`.trimEnd();
};

/**
 * Prints each period of the line, and each change of the rate with why, until Ctrl-C: what the console's page of the line shows. A
 * period is printed once it is over by another one, as metrics are late.
 */
export const watchRate = async (
  { readRate, readHistory, periodSeconds, everyMs }: WatchRateDeps,
  shell: Pick<Shell, 'print' | 'wait' | 'now' | 'sleep' | 'interrupted' | 'hint'>,
): Promise<number> => {
  const periodMs = periodSeconds * 1_000;
  const interrupted = shell.interrupted();
  const startedAt = shell.now().getTime() - periodsBefore * periodMs;
  let [printedUntil, changedUntil, max] = [startedAt, new Date(startedAt).toISOString(), 0];
  shell.hint(heading);
  for (;;) {
    const { periods, changes } = await readHistory(new Date(printedUntil));
    const over = periods.filter(({ at }) => at >= printedUntil && at + 2 * periodMs <= shell.now().getTime());
    const fresh = changes.filter(({ at }) => at > changedUntil);
    const lines = [
      ...over.map((period) => ({ at: period.at, period })),
      ...fresh.map((change) => ({ at: Date.parse(change.at), change })),
    ].toSorted((one, other) => one.at - other.at);
    for (const line of lines) {
      if ('period' in line) max = Math.max(max, line.period.waiting ?? 0);
      printLine(line, max, shell);
    }
    printedUntil = Math.max(printedUntil, ...over.map(({ at }) => at + periodMs));
    changedUntil = fresh.at(-1)?.at ?? changedUntil;
    shell.wait(describeWaiting(await readRate(), shell.now()));
    await shell.sleep(everyMs, interrupted);
    shell.wait(undefined);
    if (interrupted.aborted) return exitCodes.interrupted;
  }
};

const printLine = (
  line: { readonly period: LinePeriod } | { readonly change: RateChange },
  max: number,
  shell: Pick<Shell, 'print'>,
): void => {
  if ('period' in line) {
    const { at, ...values } = line.period;
    shell.print(row(line.period, max), { at: new Date(at).toISOString(), ...values });
  } else {
    const { change } = line;
    shell.print(`${change.at.slice(11, 19)}   ${describeRateChange(change)}`, { ...change });
  }
};
