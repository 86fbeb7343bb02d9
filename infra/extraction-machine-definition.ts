/** The settings that shape the machine. */
export type MachineTimings = {
  readonly webhookWaitSeconds: number;
  readonly startWindowSeconds: number;
  readonly startTimeoutSeconds: number;
  readonly deadlineSeconds: number;
  readonly machineSlackSeconds: number;
  readonly pollFirstSeconds: number;
  readonly pollEverySeconds: number;
  readonly pollBackoff: number;
  readonly startRetryFirstSeconds: number;
  readonly startRetryEverySeconds: number;
  readonly maxWaitSeconds: number;
  readonly providerTimeoutMs: number;
};

/**
 * The timeout of reconcile-extraction. A reconcile makes at most four calls to the provider: login, read, login again and read again.
 * Then it stores up to 20 MiB, for which 40 s are ample. Defaults: 4 × 20 + 40 = 120 s. If the kept API key was replaced, a login is made
 * twice, which leaves 20 s for the store.
 */
export const reconcileSeconds = ({ providerTimeoutMs }: Pick<MachineTimings, 'providerTimeoutMs'>): number =>
  Math.ceil((4 * providerTimeoutMs) / 1_000) + 40;

/** The ARNs of the two functions that the machine invokes, and the name of its table: tokens at synthesis, plain text in a test. */
type MachineResources = {
  readonly startTask: string;
  readonly reconcile: string;
  readonly startLine: string;
};

type Retrier = {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds: number;
  readonly MaxAttempts: number;
  readonly BackoffRate: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy: 'FULL' | 'NONE';
};

type TaskState = {
  readonly Type: 'Task';
  readonly Comment: string;
  readonly Resource: string;
  readonly Arguments: Readonly<Record<string, unknown>>;
  readonly TimeoutSeconds?: number;
  readonly Retry: readonly Retrier[];
  readonly Catch?: readonly {
    readonly ErrorEquals: readonly string[];
    readonly Output: unknown;
    readonly Next: string;
  }[];
  readonly Output: unknown;
  readonly Next?: string;
  readonly End?: true;
};

/** The machine in the Amazon States Language, https://states-language.net/spec.html, in its JSONata dialect. */
export type MachineDefinition = {
  readonly Comment: string;
  readonly QueryLanguage: 'JSONata';
  readonly TimeoutSeconds: number;
  readonly StartAt: 'StartTask';
  readonly States: {
    readonly StartTask: TaskState;
    readonly InLine: TaskState;
    readonly Reconcile: TaskState;
  };
};

/** StartInProgress is retried nine times, each a sixth of start-task's timeout: 1.5 timeouts, which outlast the start. */
const inProgressParts = 6;
const inProgressRetries = 9;

/** TaskScheduled, TaskStarted, TaskSubmitted and one of TaskSucceeded, TaskFailed, TaskTimedOut. */
const eventsPerCallbackAttempt = 4;
/** TaskScheduled, TaskStarted and one of TaskSucceeded, TaskFailed. */
const eventsPerInvokeAttempt = 3;
/**
 * What each wait in line adds to the history: the attempt of StartTask that must wait and that of InLine, and TaskStateEntered and
 * TaskStateExited of both.
 */
export const eventsPerWait = 2 * (eventsPerCallbackAttempt + 2);
/** ExecutionStarted, TaskStateEntered and TaskStateExited of two states, the end of the execution. */
const eventsAroundStates = 6;

/**
 * StartTask waits for its callback, and its success ends the machine: the queue collects. Only if no webhook comes, or the
 * start fails, Reconcile follows, which polls by being retried. Any other failure of it fails the execution, and the rule for broken
 * executions hands the extraction to the queue. The happy path has one transition. A start that must wait for the
 * provider's rate goes to InLine and back, which are two more.
 * `notYet`: the names that the error NotYet of reconcile-extraction has there.
 * Every number is a literal, as the emulator refuses a `TimeoutSeconds` expression on a callback state.
 */
export const extractionMachineDefinition = (
  timings: MachineTimings,
  functions: MachineResources,
  notYet: readonly string[] = ['NotYet'],
): MachineDefinition => ({
  Comment: 'Start a task at the provider and wait for its webhook. Without one, poll.',
  QueryLanguage: 'JSONata',
  TimeoutSeconds: machineSeconds(timings),
  StartAt: 'StartTask',
  States: {
    StartTask: startTask(timings, functions),
    InLine: inLine(timings, functions),
    Reconcile: reconcile(timings, functions, notYet),
  },
});

/** For how long an execution may run. Time in line does not count in the start window, and moves the deadline. */
export const machineSeconds = (
  timings: Pick<
    MachineTimings,
    'maxWaitSeconds' | 'startWindowSeconds' | 'deadlineSeconds' | 'machineSlackSeconds'
  >,
): number =>
  timings.maxWaitSeconds + timings.startWindowSeconds + timings.deadlineSeconds + timings.machineSlackSeconds;

/** How often the execution has been in line. Its input does not say so. */
const entry = '($exists($states.input.entry) ? $states.input.entry : 0)';

/**
 * The number of the first attempt of StartTask after so many waits. It grows over waits and redrives, and not every context has a
 * RedriveCount.
 */
const firstAttempt = (waits: string): string =>
  `(($exists($states.context.Execution.RedriveCount) ? $states.context.Execution.RedriveCount : 0) * 1000000 + ${waits} * 1000)`;

/** RetryCount starts at 0 again after a wait or a redrive. */
const callbackAttempt = `${firstAttempt(entry)} + $states.context.State.RetryCount`;

const lastProblem =
  "$match($string($states.errorOutput.Cause), /^[A-Za-z][A-Za-z0-9_.\\/-]*$/) ? {'lastProblem': $states.errorOutput.Cause} : {}";

const startTask = (timings: MachineTimings, functions: MachineResources): TaskState => ({
  Type: 'Task',
  Comment:
    'Starts the task at most once. The webhook answers the callback token, or start-task does if the queue continues.',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Arguments: {
    FunctionName: functions.startTask,
    Payload: {
      extractionId: '{% $states.input.extractionId %}',
      requestId: '{% $states.input.requestId %}',
      callbackToken: '{% $states.context.Task.Token %}',
      // How often it has been in line.
      entry: `{% ${entry} %}`,
      // So that an older token never replaces a newer one in the table Tasks.
      callbackAttempt: `{% ${callbackAttempt} %}`,
      // A retry or a redrive was not released, and neither was one whose wait ended otherwise.
      isReleased: `{% $exists($states.input.releasedFor) and $states.input.releasedFor = ${callbackAttempt} %}`,
    },
  },
  TimeoutSeconds: timings.webhookWaitSeconds,
  Retry: startRetriers(timings),
  Catch: [
    { ErrorEquals: ['Waits'], Output: '{% $states.input %}', Next: 'InLine' },
    {
      ErrorEquals: ['States.ALL'],
      // The cause of the last failed start. start-task puts a code there; all else has a space or a brace.
      Output: `{% $merge([{'extractionId': $states.input.extractionId}, ${lastProblem}]) %}`,
      Next: 'Reconcile',
    },
  ],
  Output: { extractionId: '{% $states.input.extractionId %}' },
  End: true,
});

/** Whatever ends the wait, start-task decides what follows: it knows how long the extraction has waited. */
const again = `{% $merge([$states.input, {'entry': ${entry} + 1}]) %}`;

/** The dispatcher has ended the wait, and has counted the start that follows. */
const released = `{% $merge([$states.input, {'entry': ${entry} + 1, 'releasedFor': ${firstAttempt(`(${entry} + 1)`)}}]) %}`;

/**
 * Puts the callback token into the item that start-task has written, and thereby the item into the index from which it is released.
 * Step Functions does so by itself: an integration by AWS SDK may wait for a token in a Standard workflow, and only the optimized one for
 * DynamoDB may not (https://docs.aws.amazon.com/step-functions/latest/dg/integrate-services.html).
 */
const inLine = ({ maxWaitSeconds }: MachineTimings, { startLine }: MachineResources): TaskState => ({
  Type: 'Task',
  Comment: "Waits for the provider's rate. The dispatcher answers the callback token.",
  Resource: 'arn:aws:states:::aws-sdk:dynamodb:updateItem.waitForTaskToken',
  Arguments: {
    TableName: startLine,
    Key: { extractionId: { S: '{% $states.input.extractionId %}' } },
    UpdateExpression: 'SET line = :line, callbackToken = :callbackToken',
    // An item that is gone, or is of another request under the same key, waits for nothing.
    ConditionExpression: 'requestId = :requestId',
    ExpressionAttributeValues: {
      ':line': { S: 'line' },
      ':callbackToken': { S: '{% $states.context.Task.Token %}' },
      ':requestId': { S: '{% $states.input.requestId %}' },
    },
  },
  // A line that nobody releases does not last for ever.
  TimeoutSeconds: maxWaitSeconds,
  Retry: [
    {
      ErrorEquals: ['DynamoDb.ConditionalCheckFailedException'],
      IntervalSeconds: 1,
      MaxAttempts: 0,
      BackoffRate: 1,
      JitterStrategy: 'NONE',
    },
    // A throttled table, or DynamoDB in trouble.
    { ErrorEquals: ['States.TaskFailed'], ...growing(1, 30, 2), MaxAttempts: 6 },
  ],
  Catch: [{ ErrorEquals: ['States.ALL'], Output: again, Next: 'StartTask' }],
  Output: released,
  Next: 'StartTask',
});

const reconcile = (
  timings: MachineTimings,
  functions: MachineResources,
  notYet: readonly string[],
): TaskState => ({
  Type: 'Task',
  Comment: 'Returns when the extraction needs no more work. Until then it throws, and each retry is a poll.',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: {
    FunctionName: functions.reconcile,
    Payload: "{% $merge([$states.input, {'trigger': 'machine'}]) %}",
  },
  // By then Lambda has ended the invocation. If its answer does not come, as after an event that was lost, the next poll does.
  TimeoutSeconds: reconcileSeconds(timings) + 10,
  Retry: [
    {
      ErrorEquals: [...notYet, 'States.Timeout'],
      ...growing(timings.pollFirstSeconds, timings.pollEverySeconds, timings.pollBackoff),
      MaxAttempts: pollAttempts(timings),
    },
  ],
  Output: '{% $states.result.Payload %}',
  End: true,
});

const startRetriers = (timings: MachineTimings): readonly Retrier[] => [
  {
    // No jitter, as full jitter could spend every retry before the start in progress is stale.
    ErrorEquals: ['StartInProgress'],
    IntervalSeconds: Math.ceil(timings.startTimeoutSeconds / inProgressParts),
    MaxAttempts: inProgressRetries,
    BackoffRate: 1,
    JitterStrategy: 'NONE',
  },
  {
    // No later try could succeed, or the next one has to wait in line. "A value of 0 specifies that the error is never retried"
    // (https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html), so what catches the error follows at once.
    ErrorEquals: ['CiphertextExpired', 'StartWindowOver', 'Waits'],
    IntervalSeconds: 1,
    MaxAttempts: 0,
    BackoffRate: 1,
    JitterStrategy: 'NONE',
  },
  {
    /*
     * Any error but States.Timeout, which is how a webhook that does not come shows and is no failure: what start-task
     * reports by name, what Lambda reports (a throttled function included), and the end of a process. That end has the
     * name that Lambda gives it, such as Runtime.ExitError, Runtime.OutOfMemory, Runtime.ImportModuleError or
     * Sandbox.Timedout, although Step Functions documents Lambda.Unknown
     * (https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html), so no list of names is
     * complete. A bad deployment must not cost the extractions requested in it, and to retry is always safe, as the
     * `STARTING` write admits one start.
     */
    ErrorEquals: ['States.TaskFailed'],
    ...growing(timings.startRetryFirstSeconds, timings.startRetryEverySeconds, 2),
    MaxAttempts: startRetryAttempts(timings),
  },
];

/** Intervals that grow from first to most, with full jitter, so that failures at one time are not retried at one time. */
const growing = (
  first: number,
  most: number,
  backoff: number,
): Pick<Retrier, 'IntervalSeconds' | 'BackoffRate' | 'MaxDelaySeconds' | 'JitterStrategy'> =>
  first === most
    ? { IntervalSeconds: first, BackoffRate: 1, JitterStrategy: 'FULL' }
    : { IntervalSeconds: first, BackoffRate: backoff, MaxDelaySeconds: most, JitterStrategy: 'FULL' };

/**
 * Start attempts until the start window is over. Too many do no harm, as start-task fails with StartWindowOver after the window. Too few
 * abandon the start early: with retries for the mean of 900 s alone, every second execution would run out of them. So they are for
 * the mean and three standard deviations, which 1 in 700 executions falls short of.
 * Under full jitter an interval has a mean of half its length, and a variance of a twelfth of its square. Defaults: 2, 4, 8, 16, 32,
 * then 60 s. The first five have a mean of 31 s and a variance of 114 s², each other one 30 s and 300 s². With 40 others the mean
 * is 31 + 40 × 30 = 1,231 s, and the deviation √(114 + 40 × 300) = 110 s. 1,231 − 3 × 110 = 901, so 45 retries suffice.
 */
export const startRetryAttempts = (timings: MachineTimings): number =>
  attemptsToCover(timings.startWindowSeconds, {
    first: timings.startRetryFirstSeconds,
    most: timings.startRetryEverySeconds,
    backoff: 2,
    deviations: 3,
  });

/**
 * Polls until the machine's timeout. Defaults: 5, 10, 20, 40, 80, then 120 s; halved by the jitter, 77.5 s for
 * the first five, then 60 s each, so 5 + (8,100 − 77.5) / 60 = 139. They are counted from the start of the execution, so
 * the wait for the webhook (600 s) is a margin. If they run out, the rule for broken executions and the sweep take over.
 */
export const pollAttempts = (timings: MachineTimings): number =>
  attemptsToCover(timings.deadlineSeconds + timings.machineSlackSeconds, {
    first: timings.pollFirstSeconds,
    most: timings.pollEverySeconds,
    backoff: timings.pollBackoff,
    deviations: 0,
  });

/** How many retries under full jitter last for `seconds`, even if they are so many standard deviations shorter than on average. */
const attemptsToCover = (
  seconds: number,
  { first, most, backoff, deviations }: Readonly<Record<'first' | 'most' | 'backoff' | 'deviations', number>>,
): number => {
  let [attempts, mean, variance] = [0, 0, 0];
  for (let interval = first; mean - deviations * Math.sqrt(variance) < seconds; attempts += 1) {
    mean += interval / 2;
    variance += interval ** 2 / 12;
    interval = Math.min(interval * backoff, most);
  }
  return attempts;
};

/**
 * What an execution writes into its history, which Step Functions ends at 25,000 events: each attempt of StartTask 4, each
 * poll 3, and 6 around the states. StartTask has one attempt, 9 retries of StartInProgress and 45 of anything else. Reconcile has one
 * attempt and 139 retries. Defaults: 4 × 55 + 3 × 140 + 6 = 646.
 */
export const worstCaseHistory = (timings: MachineTimings): { startRetries: number; events: number } => {
  const startRetries = startRetryAttempts(timings) + inProgressRetries;
  const polls = 1 + pollAttempts(timings);
  return {
    startRetries,
    events:
      eventsPerCallbackAttempt * (startRetries + 1) + eventsPerInvokeAttempt * polls + eventsAroundStates,
  };
};
