import { defined } from '../../defined.ts';
import { logMessages } from '../../observability/log-messages.ts';
import { meaningOf, type StartError } from '../causes.ts';
import { judge, plan } from '../decide.ts';
import type { Observation, Plan, Result } from '../plan.ts';
import type { Extraction } from '../record.ts';
import {
  checkRefusalMark,
  type KnownCredentials,
  type MarkDeps,
  markCredentialsIfKnown,
} from '../refused-credentials.ts';
import { findRequest } from '../request-data.ts';
import { cannotPerform, type RunDeps, run } from '../run.ts';
import type {
  RefusedCredentialsStore,
  RequestStore,
  StoredRequest,
  TaskStore,
  WakeOutcome,
} from '../store.ts';
import { markStarting } from '../transitions.ts';
import { startWriter } from '../write-progress.ts';
import { readAsking } from './asking.ts';
import { admit, conclude, type GateDeps, type Made } from './gate.ts';
import { hasTimeFor, makeStartCall, obtainToken, type StartCall } from './start-call.ts';

/** The payload of the state StartTask: the execution's input, the callback token and the number of the attempt. */
export type StartInput = {
  readonly extractionId: string;
  /** The request of the record for which the execution was started. */
  readonly requestId: string;
  readonly callbackToken: string;
  /** Increases with every retry and redrive of the state. Its last three digits count the retries. */
  readonly callbackAttempt: number;
  /** How often the execution has been in line. */
  readonly entry: number;
  /** Whether the dispatcher released it for this attempt. */
  readonly isReleased: boolean;
};

export type StartDeps = RunDeps &
  GateDeps &
  MarkDeps & {
    readonly tasks: TaskStore;
    readonly requests: RequestStore;
    readonly refusals: RefusedCredentialsStore;
    /** Unseals the request data and prepares the start call of the record's method. Sends nothing to the provider. */
    readonly callFor: (record: Extraction, stored: StoredRequest) => Promise<StartCall>;
    /** Logs in at the provider, also if a session token is cached. */
    readonly logIn: () => Promise<unknown>;
    /** How long this invocation may still run, in milliseconds. */
    readonly msLeft: () => number;
    /** The limit of one call to the provider, in milliseconds. */
    readonly maxCallMs: number;
    readonly newAttemptId: () => string;
  };

/** Links the task, and stores the callback token and what is known about the credentials. */
const linkTask = async (
  taskId: string,
  input: StartInput,
  { credentialsMac, isConfirmed, afterMark }: KnownCredentials,
  deps: StartDeps,
): Promise<Observation> => {
  const { extractionId, callbackToken, callbackAttempt } = input;
  const link = { taskId, extractionId, callbackToken, callbackAttempt };
  const task = await deps.tasks.link({ ...link, ...defined({ credentialsMac, isConfirmed, afterMark }) });
  const isOwn = task.extractionId === extractionId;
  if (isOwn) await markCredentialsIfKnown(task, deps);
  const { taskStatus } = task;
  // A delivery that came before this attempt found no link, or that of an earlier attempt.
  return { kind: 'task', taskId, taskStatus, isOwn, isNew: true };
};

/**
 * What is known about the credentials, for a link that an earlier attempt did not make. Empty if the item is gone. The link does not need
 * it, so a failure is only logged.
 */
const recallCredentials = async (
  record: Extraction,
  taskId: string,
  input: StartInput,
  deps: StartDeps,
): Promise<KnownCredentials> => {
  let known: KnownCredentials = {};
  try {
    const stored = await findRequest(input, deps);
    if (stored === undefined) return known;
    const call = await deps.callFor(record, stored);
    known = call;
    const checked = await checkRefusalMark(call, deps);
    if (checked.known.afterMark === undefined) return known;
    // The task is read after the mark. So what is noticed from now on is later than the mark. What was noticed before may be earlier.
    const task = await deps.tasks.get(taskId);
    const isNoticed = task?.noticedAt !== undefined;
    if (!isNoticed && task?.afterMark === undefined) known = checked.known;
  } catch (error) {
    deps.telemetry.failure('The credentials of a task could not be recalled for its link.', error);
  }
  return known;
};

/**
 * Starts the provider's task at most once and stores the callback token (design, sections 3 to 5). Its safety is in the
 * order: first every step that can fail without harm, then the `STARTING` write, the start call, the record, the link.
 * While the start is held, nothing is unsealed or requested, and nothing of the record is written.
 *
 * What follows, in order. A record that is not `REQUESTED` continues as `plan` has it, without a start call. An error is reported to the
 * machine, which goes to InLine for `Waits`, to Reconcile for `StartWindowOver` and `CiphertextExpired`, and repeats StartTask for any other:
 *
 *     the provider asked for no call yet           ProviderBusy; after the window StartWindowOver, without a check
 *     the start window is over                     all but the call, to learn the problem: StartWindowOver, or REJECTED as below
 *     it has waited for too long                   StartWindowOver (waited-too-long)
 *     the breaker holds it; no permit              a place in line: Waits
 *     its sealed data are gone                     RequestDataGone
 *     the bank has refused these credentials       REJECTED
 *     the ciphertext is an hour old                CiphertextExpired
 *     no token                                     ProviderBusy, ProviderUnreachable, ProviderUnauthorized
 *     too little time is left                      TooLittleTime; after the claim the record is REQUESTED again
 *     STARTING is refused: another one claimed it  what follows from the record as it is
 *     call: a taskId                               RUNNING, then the link: wait for the webhook, or settle what it has delivered
 *     call: 401                                    one new token and one more call, if there is time; then REQUESTED, ProviderUnauthorized, or
 *                                                  as without a token.
 *                                                  With a session token of the caller: REJECTED
 *     call: 429 of the rate                        REQUESTED, a place in line: Waits; after the window StartWindowOver
 *     call: 429 of the quota or the user           REQUESTED, not before its Retry-After: ProviderBusy
 *     call: never connected                        REQUESTED, ProviderUnreachable
 *     call: any other 4xx, or an invalid request   REJECTED; under a consent its state is read for the reason
 *     call: 408, 5xx, 3xx, timeout, no taskId      UNCONFIRMED, as a task may exist
 *
 * Throws what a store or `callFor` throws. The machine then retries, and continues where this attempt ended.
 */
export const start = async (input: StartInput, deps: StartDeps): Promise<Result> => {
  const { extractionId, requestId } = input;
  const { extractions, now, telemetry } = deps;
  const invoker = { kind: 'start', requestId } as const;
  let item: StoredRequest | undefined;
  let known: KnownCredentials | undefined;
  const record = await extractions.get(extractionId);
  const asking = record?.status === 'REQUESTED' ? await readAsking(record, input, deps) : undefined;
  // Its start window does not count the wait in line.
  const { timings } = asking ?? deps;

  /** Writes what is planned, links the task, and ends. */
  const finish = (planned: Plan, from: Extraction | undefined): Promise<Result> =>
    run(planned, from, invoker, {
      ...deps,
      timings,
      // Each write is tried three times. A late `RUNNING` by consent first puts the item of its request back.
      write: startWriter(item, deps),
      perform: async (effect, current) => {
        if (effect.kind !== 'find-task') return cannotPerform(effect);
        known ??= await recallCredentials(current, effect.taskId, input, deps);
        return { record: current, observed: await linkTask(effect.taskId, input, known, deps) };
      },
    });
  const finishWith = (from: Extraction | undefined, observed: Observation): Promise<Result> =>
    finish(judge(from, invoker, observed, now(), timings), from);

  const planned = plan(record, invoker, now(), timings);
  const onlyCheck = planned.kind === 'check-start';
  const isStart = planned.kind === 'start' || onlyCheck;
  if (!isStart || record === undefined || asking === undefined) return finish(planned, record);

  // After the start window, `judge` makes StartWindowOver of each error.
  const finishUncalled = (of: Extraction | undefined, error: StartError, problem?: string): Promise<Result> =>
    finishWith(of, { kind: 'not-called', error, problem, notBefore: undefined });

  // Admit.
  if (asking.hasWaitedTooLong) return finishUncalled(record, 'StartWindowOver', 'waited-too-long');
  const admitted = await admit(asking, onlyCheck, deps);
  if (admitted.kind === 'waits') return finishUncalled(record, 'Waits', admitted.problem);

  // Claim, and call.
  let made: Made = { shown: { kind: 'nothing' } };
  const makeStart = async (): Promise<Result> => {
    const watching = { ...deps, watch: admitted.watch };
    // First every step that can fail without harm.
    const stored = await findRequest(input, deps);
    // If a process had used the item, it would have changed the record before. So the item is lost, and the machine retries until the start
    // window ends, as after any failure.
    if (stored === undefined)
      return finishUncalled(await extractions.get(extractionId), 'RequestDataGone', 'request-data-gone');
    item = stored;
    const call = await deps.callFor(record, stored);
    const checked = await checkRefusalMark(call, deps);
    known = checked.known;
    if (checked.isRefused) return finishWith(record, { kind: 'refused-before' });
    const logIn = admitted.kind === 'turn' ? deps.logIn : undefined;
    const obtained = await obtainToken(call, { ...watching, logIn });
    if (obtained.kind === 'failed') {
      made = { shown: obtained.shown };
      return finishWith(record, { ...obtained.result, kind: 'not-called' });
    }
    // Every other step succeeded, and only the start window is over.
    if (onlyCheck) return finishUncalled(record, 'StartWindowOver');
    if (!hasTimeFor(1, deps)) return finishUncalled(record, 'TooLittleTime', 'InternalError');

    const attemptId = deps.newAttemptId();
    const { deadlineAt } = asking;
    const starting = markStarting({ record, attemptId, now: now(), timings, deadlineAt });
    const claimed = await startWriter(item, deps)(starting, [], record);
    // If that plan is another start, `run` leaves it to the machine's retry.
    if (claimed.kind === 'lost') return finish(plan(claimed.record, invoker, now(), timings), claimed.record);

    const called = await makeStartCall(obtained.token, call, watching);
    made = called;
    const { result } = called;
    if (result.kind === 'not-accepted' && result.problem === 'quota-reached') telemetry.count('QuotaReached');
    if (result.kind === 'accepted') {
      // Logged before the write: if the write fails, the log is the only place that has the taskId.
      telemetry.about({ taskId: result.taskId });
      telemetry.log(logMessages.accepted, { extractionId, taskId: result.taskId });
    }
    return finishWith(claimed.record, { kind: 'called', attemptId, result });
  };
  const ended = await makeStart().catch(async (error: unknown): Promise<never> => {
    await conclude(asking, admitted, made, undefined, deps);
    throw error;
  });

  // Conclude.
  const notInLine = await conclude(asking, admitted, made, ended, deps);
  // It was refused because of the rate. The machine waits, and counts no error.
  if (notInLine === undefined && ended.error === 'Waits') telemetry.count('ProviderBusy');
  return notInLine === undefined ? ended : finishWith(ended.record, { ...notInLine, kind: 'not-called' });
};

export type StartForMachineDeps = Omit<StartDeps, 'msLeft'> & {
  /** Answers the callback token with success, which ends the execution. A token that is awaited no more is no failure. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  /**
   * Fails the state with an error name, unless the token is awaited no more. `cause` is a public code, or the meaning of the error. The
   * history shows it. The machine passes the last `cause` to Reconcile, which uses it only if it is a code.
   */
  readonly fail: (callbackToken: string, error: StartError, cause: string) => Promise<void>;
};

/** The errors that are counted here. Others are counted elsewhere (held starts by the breaker), or are no failure of the provider. */
const countedRetries = [
  'ProviderBusy',
  'ProviderUnreachable',
  'ProviderUnauthorized',
  'RequestDataGone',
] as const;

/** Answers the callback token, unless the execution must wait for the webhook. The queue continues with everything else. */
const answerMachine = async (
  { callbackToken, extractionId }: StartInput,
  { conclusion, error, problem }: Result,
  { telemetry, wake, fail }: StartForMachineDeps,
): Promise<void> => {
  if (conclusion === 'awaits-webhook') return;
  if (conclusion !== 'not-yet') {
    await wake(callbackToken, extractionId);
    return;
  }
  const counted = countedRetries.find((metric) => metric === error);
  if (counted !== undefined) telemetry.count(counted);
  const failure = error ?? 'StartFailed';
  await fail(callbackToken, failure, problem ?? meaningOf(failure));
};

/**
 * Runs one invocation of start-task: starts, and reports to the machine (design, section 5). Returns the result, or undefined if the start
 * failed. It reports a failure through the callback token, because the name of a thrown error depends on the runtime. Throws only if that
 * report fails.
 */
export const startForMachine = async (
  input: StartInput,
  deps: StartForMachineDeps,
): Promise<Result | undefined> => {
  const endsAt = deps.now().getTime() + deps.timings.startTimeout * 1_000;
  const msLeft = (): number => endsAt - deps.now().getTime();
  try {
    const result = await start(input, { ...deps, msLeft });
    const { conclusion, explanation, problem, record } = result;
    // Otherwise the start itself is logged.
    if (conclusion !== 'awaits-webhook') {
      deps.telemetry.log(logMessages.startFinished, {
        outcome: conclusion,
        ...defined({ explanation, problem, status: record?.status }),
      });
    }
    await answerMachine(input, result, deps);
    return result;
  } catch (error) {
    deps.telemetry.failure('The start failed.', error);
    await deps.fail(input.callbackToken, 'StartFailed', meaningOf('StartFailed'));
    return undefined;
  }
};
