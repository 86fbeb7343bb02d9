import { cachedRead } from '../../../lib/cached-read.ts';
import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import type { Extraction, ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { Deployment } from '../aws/deployment.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { breakersOf, extractionsOf, noExtraction, readHolds } from '../aws/stores.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { describeHolds, type Hold, holdOf } from '../terminal/describe-hold.ts';
import { exitCodes } from '../terminal/errors.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { describeProgress } from '../terminal/operator-view.ts';
import type { CommandContext } from './command-context.ts';

/** Between two reads, in milliseconds. */
const pause = 1_000;

/** How long a reading of what holds calls is used. The functions read it as often, and it lists a table. */
const holdsSeconds = 5;

/** The same of the line, of which a read costs more the longer it is. */
const lineSeconds = 10;

type FollowDeps = {
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Called on a change of status, on collection and on close. */
  readonly onChange: (line: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly onWait: (line: string) => void;
  /** What holds calls to the provider, the worst first. Called for each reading of the record. */
  readonly readHolds: () => Promise<readonly Hold[]>;
  /** When it will be started, if it waits in line. Called for each reading of a `REQUESTED` record. */
  readonly startsAt: () => Promise<string | undefined>;
  /** Called once the extraction's next call is held, and again where the hold is another one. */
  readonly onHold: (line: string) => void;
};

/** How far to follow. An extraction is settled once it has an outcome, and closed once nothing is left to do. */
export type FollowOptions = {
  readonly until?: 'settled' | 'closed';
  /** In seconds; without it, as long as it takes. */
  readonly timeout?: number;
  readonly interrupted?: AbortSignal;
};

type FollowResult =
  | { readonly kind: 'ended' | 'timed-out' | 'interrupted'; readonly status: ExtractionStatus }
  | { readonly kind: 'absent' };

export const followExtraction = async (
  extractionId: string,
  { until = 'closed', timeout = Number.POSITIVE_INFINITY, interrupted }: FollowOptions,
  deps: FollowDeps,
): Promise<FollowResult> => {
  const start = deps.now().toISOString();
  let printed: string | undefined;
  let heldSince: string | undefined;
  for (;;) {
    const record = await deps.get(extractionId);
    if (record === undefined) return { kind: 'absent' };
    const elapsed = formatSeconds(secondsSince(record.requestedAt, deps.now()));
    const progress = describeProgress(record);
    if (progress !== printed) {
      deps.onChange(`${elapsed.padStart(12)}  ${progress}`, factsOf(record));
      printed = progress;
    }
    const { status, settledAt, dueShard } = record;
    if (dueShard === undefined || (until === 'settled' && settledAt !== undefined)) {
      return { kind: 'ended', status };
    }
    const hold = holdOf(record, await deps.readHolds());
    if (hold !== undefined && hold.since !== heldSince) {
      deps.onHold(`${elapsed.padStart(12)}  ${describeHolds([hold], deps.now()).join()}`);
    }
    heldSince = hold?.since;
    const left = timeout - secondsSince(start, deps.now());
    if (left <= 0) return { kind: 'timed-out', status };
    const startsAt = status === 'REQUESTED' ? await deps.startsAt() : undefined;
    const starts =
      startsAt === undefined
        ? ''
        : `, in line, starts in ${formatSeconds(-secondsSince(startsAt, deps.now()))}`;
    deps.onWait(`${status} for ${formatSeconds(secondsSince(sinceOf(record), deps.now()))}${starts}`);
    await deps.sleep(Math.min(pause, left * 1_000), interrupted);
    if (interrupted?.aborted === true) return { kind: 'interrupted', status };
  }
};

const factsOf = (record: Extraction): Readonly<Record<string, unknown>> => {
  const { extractionId, status, taskId, settledBy, reason, collectedAt, collectionError, dueShard } = record;
  const closed = dueShard === undefined;
  return { extractionId, status, taskId, settledBy, reason, collectedAt, collectionError, closed };
};

const sinceOf = ({ status, requestedAt, startingAt, startedAt, settledAt }: Extraction): string => {
  if (status === 'REQUESTED') return requestedAt;
  if (status === 'STARTING') return startingAt ?? requestedAt;
  return (status === 'RUNNING' ? startedAt : settledAt) ?? requestedAt;
};

type WatchOptions = Pick<FollowOptions, 'until' | 'timeout'>;

export const watch = async (
  extractionId: string,
  options: WatchOptions,
  { shell, connect }: CommandContext,
): Promise<number> => watchOne(extractionId, options, await connect(), shell);

/** Reads the record once a second. That starts from its current state, and uses no consumer slot of the stream. */
export const watchOne = async (
  extractionId: string,
  options: WatchOptions,
  deployment: Deployment,
  shell: Shell,
): Promise<number> => {
  const { get } = extractionsOf(deployment);
  const breakers = breakersOf(deployment);
  const follow = { ...options, interrupted: shell.interrupted() };
  const result = await followExtraction(extractionId, follow, {
    get,
    now: shell.now,
    sleep: shell.sleep,
    onChange: (line, facts) => {
      shell.wait(undefined);
      shell.print(line, facts);
    },
    onWait: shell.wait,
    readHolds: cachedRead(holdsSeconds, shell.now, () => readHolds(breakers, shell.now())),
    startsAt: cachedRead(lineSeconds, shell.now, async () =>
      expectedStartAt(await readStartRate(deployment, shell.now()), extractionId, shell.now()),
    ),
    onHold: shell.hint,
  });
  shell.wait(undefined);
  if (result.kind === 'absent') throw noExtraction(deployment, extractionId);
  const { hint, code } = describeEnd(result, options);
  if (hint !== undefined) {
    shell.hint(
      `${hint} The extraction goes on; to continue: \`${deployment.command('watch', extractionId)}\``,
    );
  }
  return code;
};

type End = { readonly hint?: string; readonly code: number };

export const describeEnd = (
  { kind, status }: Exclude<FollowResult, { kind: 'absent' }>,
  { timeout = 0 }: WatchOptions,
): End => {
  if (kind === 'interrupted') return { hint: 'Stopped watching.', code: exitCodes.interrupted };
  if (kind === 'timed-out') {
    return { hint: `Still ${status} after ${formatSeconds(timeout)}.`, code: exitCodes.timedOut };
  }
  return { code: status === 'COMPLETED' ? exitCodes.done : exitCodes.otherOutcome };
};
