import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import { untilNextReceive } from '../models/queue.ts';
import type { Process } from './process.ts';
import { lifeOf } from './settings.ts';
import type { World } from './world.ts';

/** How late a message arrives if the consumer does not keep up: longer than a lease of the sweep. */
const lateSeconds = 400;

/** A message of the reconcile queue, or of the slow queue. */
export type QueuedMessage = { readonly body: string; readonly isSlow: boolean };

/** Consumes a message. Calls `ended` with whether it is done. */
type Consume = (message: QueuedMessage, ended: (done: boolean) => void) => void;

/**
 * The reconcile queue and the slow queue. They deliver a message at least once, in any order. A message whose consumer fails or ends is delivered
 * again after the visibility timeout, and in the end it is a dead letter, which here nobody redrives.
 */
export class ReconcileQueue {
  /** Messages that the queue accepted, in order. */
  readonly accepted: { readonly message: ReconcileMessage; readonly by: Process | undefined }[] = [];
  /** How many messages were sent or received once more than necessary. */
  repetitions = 0;
  readonly #world: World;
  readonly #consume: Consume;

  constructor(world: World, consume: Consume) {
    this.#world = world;
    this.#consume = consume;
  }

  accept(message: ReconcileMessage, delaySeconds: number, isSlow = false): void {
    this.#world.requireAlive('queue');
    const by = this.#world.kernel.actor;
    // A message that moves to the slow queue causes a second read.
    const isRepeated =
      isSlow || by === undefined || this.hasMessageOf(by) || by.name.startsWith('start-task');
    if (isRepeated) this.repetitions += 1;
    this.accepted.push({ message, by });
    this.#world.state('sent', { message, by, isSlow });
    const deliver = (): void => this.#deliver(message, isSlow);
    if (delaySeconds === 0) deliver();
    else this.#world.kernel.after(delaySeconds * 1_000, `a message (${message.cause}) is due`, deliver);
  }

  hasMessageOf(process: Process): boolean {
    return this.accepted.some(({ by }) => by === process);
  }

  #deliver(message: ReconcileMessage, isSlow: boolean): void {
    const { kernel } = this.#world;
    const receive = (): void => this.#receive({ body: JSON.stringify(message), isSlow }, 1);
    void kernel.call<void>('queue', {
      name: `message (${message.cause})`,
      kind: 'once',
      take: receive,
      others: [
        { name: 'lost', take: () => undefined },
        {
          name: 'twice',
          take: () => {
            this.repetitions += 1;
            receive();
            receive();
          },
        },
        { name: 'late', take: () => kernel.after(lateSeconds * 1_000, 'a late message arrives', receive) },
        {
          name: 'again later',
          take: () => {
            this.repetitions += 1;
            receive();
            kernel.after(lateSeconds * 1_000, 'a message arrives again', receive);
          },
        },
      ],
    });
  }

  #receive(message: QueuedMessage, times: number): void {
    if (this.#world.isDead('queue')) return;
    const { kernel } = this.#world;
    const ended = (done: boolean): void => {
      if (done) return;
      const pause = untilNextReceive(times, lifeOf.reconcile);
      if (pause === undefined) {
        kernel.counted('a dead letter');
        return;
      }
      this.repetitions += 1;
      kernel.after(pause, 'a message is visible again', () => this.#receive(message, times + 1));
    };
    if (this.#world.deployIsBroken) ended(false);
    else this.#consume(message, ended);
  }
}
