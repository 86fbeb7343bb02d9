import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { limitParallelCalls } from '../../cli/operate/limit-parallel-calls.ts';
import { explainFailure } from '../../cli/terminal/explain-failure.ts';
import {
  type AcceptContext,
  type Check,
  type CheckResult,
  failed,
  type SharedContext,
  skipped,
} from './check.ts';

export type CheckReport = Pick<Check, 'id' | 'title'> & CheckResult & { readonly seconds: number };

type RunProgress = {
  readonly onEnd: (report: CheckReport) => void;
  /** Called when a check starts to wait for something else, with all that are running. */
  readonly onWait: (waiting: ReadonlyMap<string, string>) => void;
};

/** An emulator runs every function on the same few cores, so a check may take this many times longer. */
const emulatorFactor = 5;

/** At most so many run together there, the longest first: 20 at once start dozens of processes, and calls time out. */
const emulatorAtOnce = 4;

const turns = ['together', 'alone', 'last'] as const;

const secondsOf = ({ seconds = () => 60 }: Check, shared: SharedContext): number => seconds(shared);

/**
 * Runs all checks and returns a report of each, in the order given. No check outlasts its own time, even if a call hangs. When `stop`
 * aborts, it returns at once, and the checks that have not ended are failed. A check whose `dependsOn` fails ends at once, as skipped.
 */
export const runChecks = async (
  checks: readonly Check[],
  shared: SharedContext,
  { onEnd, onWait }: RunProgress,
  stop: AbortSignal,
): Promise<readonly CheckReport[]> => {
  const reports = new Map<string, CheckReport>();
  const waiting = new Map<string, string>();
  const failures = new Map(checks.map(({ id }) => [id, new AbortController()]));
  const runOne = async (check: Check): Promise<void> => {
    const waitFor = (what: string): void => {
      waiting.set(check.id, what);
      onWait(waiting);
    };
    const failure = failures.get(check.dependsOn ?? '')?.signal;
    const report = await runCheck(check, shared, {
      waitFor,
      waitedFor: () => waiting.get(check.id),
      stop,
      failure: failure ?? new AbortController().signal,
    });
    if (report.kind === 'failed') failures.get(check.id)?.abort();
    waiting.delete(check.id);
    reports.set(check.id, report);
    onEnd(report);
  };
  const paced = limitParallelCalls(shared.deployment.isEmulated ? emulatorAtOnce : Number.POSITIVE_INFINITY);
  for (const turn of turns) {
    const ofTurn = checks.filter((check) => (check.turn ?? 'together') === turn);
    if (turn === 'together') {
      const slowestFirst = ofTurn.toSorted((a, b) => secondsOf(b, shared) - secondsOf(a, shared));
      await Promise.all(slowestFirst.map((check) => paced(() => runOne(check))));
    } else for (const check of ofTurn) await runOne(check);
  }
  return checks.flatMap(({ id }) => reports.get(id) ?? []);
};

type Watch = {
  readonly waitFor: (what: string) => void;
  readonly waitedFor: () => string | undefined;
  readonly stop: AbortSignal;
  /** Aborts when the check fails on which this one depends. */
  readonly failure: AbortSignal;
};

const runCheck = async (
  check: Check,
  shared: SharedContext,
  { waitFor, waitedFor, stop, failure }: Watch,
): Promise<CheckReport> => {
  const { id, title } = check;
  const dependent = (): CheckResult => skipped(`depends on ${check.dependsOn}, which failed`);
  const report = (result: CheckResult, seconds: number): CheckReport => ({ id, title, ...result, seconds });
  if (shared.deployment.isMiniStack && check.notOnEmulator !== undefined) {
    return report(skipped(`emulator: ${check.notOnEmulator}`), 0);
  }
  if (stop.aborted) return report(failed('It was stopped before it began.'), 0);
  if (failure.aborted) return report(dependent(), 0);
  const begun = shared.now().getTime();
  const elapsed = (): number => Math.round((shared.now().getTime() - begun) / 100) / 10;
  const limit = secondsOf(check, shared) * (shared.deployment.isEmulated ? emulatorFactor : 1);
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), limit * 1_000);
  const signal = AbortSignal.any([ended.signal, stop, failure]);
  const isOver = once(signal, 'abort');
  const over = (): CheckResult => {
    if (failure.aborted && !stop.aborted) return dependent();
    const what = waitedFor();
    const last = what === undefined ? '' : ` while it waited for ${what}`;
    return failed(stop.aborted ? `It was stopped${last}.` : `It was not done within its ${limit} s${last}.`);
  };
  const sleep = (milliseconds: number): Promise<void> => delay(milliseconds, undefined, { signal });
  try {
    const run = check
      .run({ ...shared, signal, sleep, waitFor, until: untilWith({ waitFor, sleep }) })
      .catch((error: unknown) => (signal.aborted ? over() : failed(explainFailure(error) ?? String(error))));
    return report(await Promise.race([run, isOver.then(over)]), elapsed());
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
};

export const untilWith =
  ({ waitFor, sleep }: Pick<AcceptContext, 'waitFor' | 'sleep'>): AcceptContext['until'] =>
  async (what, probe, everyMs = 1_000) => {
    waitFor(what);
    for (;;) {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      await sleep(everyMs);
    }
  };
