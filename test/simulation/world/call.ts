import { cost } from '../scheduler/option.ts';

/** The possible fates of a call. */
export const fate = {
  /** Takes effect, and is answered. */
  done: 0,
  /** Takes effect now. The answer arrives just before the timeout of the process. */
  answerDelayed: 1,
  /** Takes effect just before the timeout of the process. */
  slow: 2,
  /** Fails without an effect. */
  failed: 3,
  /** Takes effect, but the caller sees a failure. */
  failedAfterEffect: 4,
  /** The caller sees a failure. The request takes effect later. */
  effectDelayed: 5,
  /** The answer is lost, and the SDK repeats the request, so that it takes effect twice. */
  repeated: 6,
  /** The SDK repeats the request, which is answered. The first copy takes effect later. */
  overtaken: 7,
  /** The process is interrupted before the request is sent. */
  crashBefore: 8,
  /** The process is interrupted after the request has taken effect. */
  crashAfter: 9,
  /** The process is interrupted, and its request takes effect later. */
  crashLater: 10,
} as const;

export type Fate = (typeof fate)[keyof typeof fate];

export const fateNames: Readonly<Record<Fate, string>> = {
  [fate.done]: '',
  [fate.answerDelayed]: 'answer delayed',
  [fate.slow]: 'slow',
  [fate.failed]: 'fails without effect',
  [fate.failedAfterEffect]: 'fails after its effect',
  [fate.effectDelayed]: 'fails, takes effect later',
  [fate.repeated]: 'answer lost, repeated',
  [fate.overtaken]: 'repeated, first copy takes effect later',
  [fate.crashBefore]: 'process interrupted before it',
  [fate.crashAfter]: 'process interrupted after it',
  [fate.crashLater]: 'process interrupted, takes effect later',
};

export const fateCost = (of: number): number =>
  of === fate.done ? cost.none : of === fate.answerDelayed || of === fate.slow ? cost.preemption : cost.fault;

/** The fates of each kind of call, without the first. A read has no effect, so fewer apply to it. */
export const fatesOf: Readonly<Record<'read' | 'write' | 'once', readonly Fate[]>> = {
  read: [fate.answerDelayed, fate.slow, fate.failed, fate.crashBefore],
  write: [
    fate.answerDelayed,
    fate.slow,
    fate.failed,
    fate.failedAfterEffect,
    fate.effectDelayed,
    fate.repeated,
    fate.overtaken,
    fate.crashBefore,
    fate.crashAfter,
    fate.crashLater,
  ],
  // The failures of a start call are among the answers of the provider.
  once: [fate.answerDelayed, fate.slow, fate.crashBefore, fate.crashAfter, fate.crashLater],
};

/** The number of the first other answer of a call. It is above every fate. */
export const firstAnswer = 16;

/** Any failure of a dependency other than the provider. */
export class DependencyDown extends Error {
  override readonly name = 'DependencyDown';
}

/** An error that is thrown only after some seconds. */
export type Late = { readonly after: number; readonly error: Error };

export const isLate = (value: unknown): value is Late =>
  typeof value === 'object' && value !== null && 'after' in value && 'error' in value;

/** Another possible answer of a dependency. `take` returns or throws it. */
export type OtherAnswer<T> = { readonly name: string; readonly take: () => T | Late };

/** A call of a dependency. It takes effect at one moment, or never, or twice. */
export type Call<T> = {
  /** For traces. */
  readonly name: string;
  /** `read` has no effect. The SDK may repeat a `write`. Nothing repeats a `once`. */
  readonly kind: 'read' | 'write' | 'once';
  readonly take: () => T | Late;
  readonly failure?: () => Error;
  readonly others?: readonly OtherAnswer<T>[];
};
