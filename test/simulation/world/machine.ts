import { defined } from '#lib/defined.ts';
import type { ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import type { WakeOutcome } from '#lib/extraction/store.ts';
import { extractionMachineDefinition } from '../../../infra/extraction-machine-definition.ts';
import { errorNameOf, type Retries, retriesOf } from '../models/step-functions-retries.ts';
import type { Facts } from './facts.ts';
import type { ProcessEnd } from './process.ts';
import type { Scenario } from './scenario.ts';
import { settings } from './settings.ts';
import type { Timer } from './timers.ts';
import type { World } from './world.ts';

/** The definition that is deployed. Its retries, timeouts and ends are not repeated here. */
const definition = extractionMachineDefinition(settings, {
  startTask: 'start-task',
  reconcile: 'reconcile',
  startLine: 'StartLine',
});
if (definition.States.StartTask.End !== true) throw new Error('The simulated machine ends after StartTask.');

type StateName = keyof typeof definition.States;

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

const ended = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
} as const satisfies Record<Exclude<ExecutionStatus, 'RUNNING'>, string>;

/** What the machine passes to start-task. `number` is the `callbackAttempt`. */
export type StartAttempt = {
  readonly input: ExecutionInput;
  readonly token: string;
  readonly number: number;
  readonly entry: number;
  readonly isReleased: boolean;
};

/** The functions that the machine invokes. */
type MachineFunctions = {
  startTask(attempt: StartAttempt, ended: (end: ProcessEnd<unknown>) => void): void;
  reconcile(
    event: { trigger: 'machine'; extractionId: string; lastProblem: unknown },
    ended: (end: ProcessEnd<unknown>) => void,
  ): void;
};

/** The error name of an invocation that did not return: the `errorType` of Lambda's answer. */
const errorOf = (
  end: Exclude<ProcessEnd<unknown>, { kind: 'returned' }>,
  { interruptions }: Pick<Scenario, 'interruptions'>,
): string => {
  if (end.kind === 'threw') return errorNameOf(end.error);
  if (end.of === 'timeout') return 'Sandbox.Timedout';
  return interruptions === 'unreported' ? 'Runtime.ExitError' : interruptions;
};

/** One execution of the machine. A callback token is valid while its attempt waits. */
export class Execution {
  status: ExecutionStatus = 'RUNNING';
  readonly input: ExecutionInput;
  /** State transitions: each state entered or retried. */
  transitions = 0;
  redrives = 0;
  /** The error for which the machine abandoned the start; `States.Timeout` if the wait for the token was over. */
  abandonedFor: string | undefined;
  /** Whether StartTask has failed for good, or the execution broke. */
  abandoned = false;
  state: StateName = 'StartTask';
  /** The cause of the last failure of StartTask. */
  #cause: string | undefined;
  readonly #world: World;
  readonly #functions: MachineFunctions;
  #token: string | undefined;
  #tokens = 0;
  #attempt = 0;
  /** How often it has been in line, and for which attempt of StartTask it was released. */
  #entry = 0;
  #releasedFor: number | undefined;
  /** Since when its callback token is in the line. */
  #inLineAt: number | undefined;
  #inLineMs = 0;
  #retries: Retries = retriesOf([]);
  #retryCount = 0;
  #timers: (Timer | undefined)[] = [];
  /** Since when a try of Reconcile waits for its answer. */
  #polledAt: number | undefined;
  #polls = 0;
  #machineTimeout: Timer | undefined;

  constructor(world: World, functions: MachineFunctions, input: ExecutionInput) {
    this.#world = world;
    this.#functions = functions;
    this.input = input;
    this.#write('ExecutionStarted');
    this.#run('StartTask');
  }

  #write(type: string, more: Partial<Facts['history']> = {}): void {
    this.#world.state('history', { at: new Date(this.#world.kernel.now).toISOString(), type, ...more });
  }

  /** For how long its callback token was in the line, in milliseconds. */
  get inLineMs(): number {
    const { now } = this.#world.kernel;
    return this.#inLineMs + (this.#inLineAt === undefined ? 0 : now - this.#inLineAt);
  }

  /** Whether it waits in line with a callback token that somebody could answer. */
  get isInLine(): boolean {
    return this.#inLineAt !== undefined;
  }

  /** SendTaskSuccess. */
  succeed(token: string): WakeOutcome {
    this.#world.requireAlive('machine');
    if (token !== this.#token) return 'gone';
    if (this.state === 'InLine') this.#released();
    else this.#end('SUCCEEDED');
    return 'woken';
  }

  /** SendTaskFailure. */
  failTask(token: string, error: string, cause: string): void {
    this.#world.requireAlive('machine');
    if (token !== this.#token) return;
    this.#cause = cause;
    this.#fail(error);
  }

  /** An operator stops it. */
  abort(): void {
    this.#end('ABORTED');
  }

  /** An operator redrives it from the state in which it broke. */
  redrive(): void {
    this.redrives += 1;
    this.#write('ExecutionRedriven');
    this.status = 'RUNNING';
    this.#run(this.state, true);
  }

  #run(state: StateName, isRedriven = false): void {
    this.#machineTimeout = this.#set(definition.TimeoutSeconds, 'the execution times out', () =>
      this.#end('TIMED_OUT'),
    );
    this.#enter(state, isRedriven);
  }

  #enter(state: StateName, isRedriven = false): void {
    this.state = state;
    // A redrive schedules the state again, which the execution has not left.
    if (!isRedriven) this.#write('TaskStateEntered', { state });
    this.#retries = retriesOf(definition.States[state].Retry);
    this.#retryCount = 0;
    this.#try();
  }

  #try(): void {
    this.transitions += 1;
    this.#attempt += 1;
    const attempt = this.#attempt;
    const timeoutSeconds = definition.States[this.state].TimeoutSeconds;
    this.#write('TaskScheduled', timeoutSeconds === undefined ? {} : { timeoutSeconds });
    if (this.state === 'StartTask') this.#tryStartTask(attempt);
    else if (this.state === 'InLine') this.#tryInLine(attempt);
    else this.#tryReconcile(attempt);
  }

  #newToken(): string {
    this.#tokens += 1;
    const token = `secret-token-${this.#tokens}`;
    this.#token = token;
    return token;
  }

  /** The number of the first attempt of StartTask after the last wait. */
  get #firstAttempt(): number {
    return this.redrives * 1_000_000 + this.#entry * 1_000;
  }

  #tryStartTask(attempt: number): void {
    const token = this.#newToken();
    this.#cause = undefined;
    const number = this.#firstAttempt + this.#retryCount;
    const started = {
      input: this.input,
      token,
      number,
      entry: this.#entry,
      isReleased: this.#releasedFor === number,
    };
    this.#timeOut('StartTask', () => this.#world.state('waitedOut', { token }));
    this.#invoke('start-task', attempt, () =>
      this.#functions.startTask(started, (end) => {
        if (end.kind === 'returned' || this.#world.scenario.interruptions === 'unreported') return;
        if (this.#isCurrent(attempt)) this.#fail(errorOf(end, this.#world.scenario));
      }),
    );
  }

  /** UpdateItem, which Step Functions makes by itself. */
  #tryInLine(attempt: number): void {
    const token = this.#newToken();
    const { extractionId, requestId } = this.input;
    this.#timeOut('InLine', () => undefined);
    const enter = (): void => {
      if (!this.#isCurrent(attempt)) return;
      if (!this.#world.line.enter(extractionId, requestId, token)) {
        this.#fail('DynamoDb.ConditionalCheckFailedException');
        return;
      }
      this.#inLineAt = this.#world.kernel.now;
      this.#world.noteLine();
    };
    void this.#world.kernel.call<void>('machine', {
      name: 'puts the callback token in line',
      kind: 'once',
      take: enter,
      others: [
        {
          name: 'DynamoDB fails before',
          take: () => {
            if (this.#isCurrent(attempt)) this.#fail('DynamoDb.ThrottlingException');
          },
        },
        {
          name: 'DynamoDB fails after',
          take: () => {
            enter();
            if (this.#isCurrent(attempt)) this.#fail('DynamoDb.SdkClientException');
          },
        },
      ],
    });
  }

  #released(): void {
    this.#leave();
    this.#attempt += 1;
    this.#write('TaskSucceeded');
    this.#write('TaskStateExited', { state: this.state });
    this.#entry += 1;
    this.#releasedFor = this.#firstAttempt;
    this.#enter('StartTask');
  }

  #tryReconcile(attempt: number): void {
    const { extractionId } = this.input;
    this.#polls += 1;
    this.#polledAt = this.#world.kernel.now;
    this.#timeOut('Reconcile', () => undefined);
    if (this.#polls === 1 && this.#world.scenario.firstPollLost === true) return;
    this.#invoke('reconcile', attempt, () =>
      this.#functions.reconcile({ trigger: 'machine', extractionId, lastProblem: this.#cause }, (end) => {
        if (!this.#isCurrent(attempt)) return;
        if (end.kind === 'returned') this.#end('SUCCEEDED');
        else this.#fail(errorOf(end, this.#world.scenario));
      }),
    );
  }

  /** Fails the try with States.Timeout if it is not answered in time. A state without TimeoutSeconds waits on. */
  #timeOut(name: StateName, timedOut: () => void): void {
    const { TimeoutSeconds } = definition.States[name];
    if (TimeoutSeconds === undefined) return;
    const timer = this.#set(TimeoutSeconds, `${name} times out`, () => {
      timedOut();
      this.#fail('States.Timeout');
    });
    this.#timers.push(timer);
  }

  /** The Lambda service may refuse, or may fail after it has invoked the function. Then two invocations run. */
  #invoke(what: string, attempt: number, run: () => void): void {
    const failing = (error: string) => () => {
      if (this.#isCurrent(attempt)) this.#fail(error);
    };
    const invoke = {
      name: `invokes ${what}`,
      kind: 'once',
      take: () => {
        if (!this.#isCurrent(attempt)) return;
        if (this.#world.deployIsBroken) this.#fail('Runtime.ImportModuleError');
        else run();
      },
      others: [
        { name: 'the Lambda service fails before', take: failing('Lambda.ServiceException') },
        {
          name: 'the Lambda service fails after',
          take: () => {
            if (!this.#isCurrent(attempt)) return;
            run();
            this.#fail('Lambda.SdkClientException');
          },
        },
      ],
    } as const;
    void this.#world.kernel.call<void>('machine', invoke);
  }

  #isCurrent(attempt: number): boolean {
    return this.status === 'RUNNING' && this.#attempt === attempt && !this.#world.isDead('machine');
  }

  #fail(error: string): void {
    const state = definition.States[this.state];
    this.#writeFailure(error);
    this.#leave();
    this.#attempt += 1;
    const retry = this.#retries(error);
    const caught = state.Catch?.find(
      ({ ErrorEquals: of }) => of.includes(error) || of.includes('States.ALL'),
    );
    if (retry !== undefined) {
      this.#retryCount += 1;
      const pause = (retry.milliseconds / 1_000) * (retry.isJittered ? this.#world.scenario.jitter : 1);
      this.#timers.push(this.#set(pause, `the machine retries ${this.state}`, () => this.#try()));
    } else if (caught !== undefined) {
      const next = caught.Next as StateName;
      if (next === 'Reconcile') {
        this.abandonedFor = error;
        this.abandoned = true;
      }
      if (this.state === 'InLine') this.#entry += 1;
      this.#write('TaskStateExited', { state: this.state });
      this.#enter(next);
    } else {
      this.#end('FAILED');
    }
  }

  #writeFailure(error: string): void {
    const message = this.state === 'StartTask' ? this.#cause : undefined;
    const type = error === 'States.Timeout' ? 'TaskTimedOut' : 'TaskFailed';
    this.#write(type, { error, ...defined({ message }) });
  }

  #set(seconds: number, label: string, fire: () => void): Timer {
    const { kernel } = this.#world;
    return kernel.timers.set(kernel.now + seconds * 1_000, label, () => {
      if (!this.#world.isDead('machine')) fire();
    });
  }

  /** The attempt is over, and its callback token is invalid. */
  #leave(): void {
    this.#token = undefined;
    this.#inLineMs = this.inLineMs;
    this.#inLineAt = undefined;
    if (this.#polledAt !== undefined)
      this.#world.state('pollOver', { seconds: (this.#world.kernel.now - this.#polledAt) / 1_000 });
    this.#polledAt = undefined;
    for (const timer of this.#timers) this.#world.kernel.timers.clear(timer);
    this.#timers = [];
  }

  #end(status: Exclude<ExecutionStatus, 'RUNNING'>): void {
    this.#leave();
    this.#world.kernel.timers.clear(this.#machineTimeout);
    this.#attempt += 1;
    if (status === 'SUCCEEDED') {
      this.#write('TaskSucceeded');
      this.#write('TaskStateExited', { state: this.state });
    }
    this.status = status;
    this.#write(ended[status]);
    if (status === 'SUCCEEDED') return;
    this.abandoned = true;
    this.#world.executionBroke(this.input.extractionId);
  }
}
