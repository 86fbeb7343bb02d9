import { cost } from '../scheduler/option.ts';

/** What may become of a call besides taking effect and being answered. */
export const fate = {
  /** Takes effect, and is answered. */
  done: 0,
  /** Takes effect now; its answer comes at the last moment of the process. */
  held: 1,
  /** Takes effect at the last moment of the process. */
  slow: 2,
  /** Fails without an effect. */
  refused: 3,
  /** Takes effect, but the caller sees a failure. */
  unheard: 4,
  /** The caller sees a failure; the request is still on its way and takes effect later. */
  late: 5,
  /** The answer is lost on the way, and the SDK sends the request again: takes effect twice. */
  repeated: 6,
  /** The SDK sends the request again and that is answered; the first is still on its way. */
  overtaken: 7,
  /** The process dies before the request has left. */
  crashBefore: 8,
  /** The process dies when the request has taken effect. */
  crashAfter: 9,
  /** The process dies, and its request takes effect later. */
  crashLater: 10,
} as const;

export type Fate = (typeof fate)[keyof typeof fate];

export const fateNames: Readonly<Record<Fate, string>> = {
  [fate.done]: '',
  [fate.held]: 'answer held up',
  [fate.slow]: 'slow',
  [fate.refused]: 'fails without effect',
  [fate.unheard]: 'fails after its effect',
  [fate.late]: 'fails, takes effect later',
  [fate.repeated]: 'answer lost, sent again',
  [fate.overtaken]: 'sent again, first still on its way',
  [fate.crashBefore]: 'process dies before it',
  [fate.crashAfter]: 'process dies after it',
  [fate.crashLater]: 'process dies, takes effect later',
};

export const fateCost = (of: number): number =>
  of === fate.done ? cost.none : of === fate.held || of === fate.slow ? cost.preemption : cost.fault;

/** The fates of each kind of call, less the first. An answer that a read never gave changes nothing. */
export const fatesOf: Readonly<Record<'read' | 'write' | 'once', readonly Fate[]>> = {
  read: [fate.held, fate.slow, fate.refused, fate.crashBefore],
  write: [
    fate.held,
    fate.slow,
    fate.refused,
    fate.unheard,
    fate.late,
    fate.repeated,
    fate.overtaken,
    fate.crashBefore,
    fate.crashAfter,
    fate.crashLater,
  ],
  // How a start call fails is among the answers of the provider.
  once: [fate.held, fate.slow, fate.crashBefore, fate.crashAfter, fate.crashLater],
};

/** A number above every fate: the other answers of a call begin here. */
export const firstAnswer = 16;
