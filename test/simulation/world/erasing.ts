import type { EraseMessage, Erasure, Tombstone } from '#lib/extraction/erase/erasure.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { eraseLife } from './settings.ts';
import { theExtraction } from './the-extraction.ts';
import { WatchedItems } from './watched-items.ts';
import type { World } from './world.ts';

/** How late a message arrives that is delivered again although it was deleted. */
const lateSeconds = 400;

/** Receives until a message is a dead letter, as of the queue. */
const maxReceives = 5;

/** Consumes a message of the erase queue. Calls `ended` with whether it is done. */
type Consume = (body: string, ended: (done: boolean) => void) => void;

/** What is asked to be erased, the erase queue, the tombstones, and the objects in the bucket. */
export class Erasing {
  readonly erasures = new Map<string, Erasure>();
  readonly tombstones: WatchedItems<Tombstone>;
  /** By request and key, as each was stored. */
  readonly objects = new Map<string, { readonly requestId: string }>();
  /** The record of each request, as it last was: what a backup has. */
  readonly backup = new Map<string, Extraction>();
  /** The requests whose record an erasure has deleted, and not a loss of the table. */
  readonly deleted = new Set<string>();
  /** The tasks of these records. */
  readonly erasedTasks = new Set<string>();
  /** Messages that were received in vain five times. An operator redrives them, and here nobody does. */
  deadLetters = 0;
  readonly #world: World;
  readonly #consume: Consume;

  constructor(world: World, consume: Consume) {
    this.#world = world;
    this.#consume = consume;
    this.tombstones = new WatchedItems((before, after) => world.state('tombstone', { before, after }));
  }

  /** Somebody asks to have the extraction erased. */
  begin(): void {
    const erasureId = `erasure-${this.erasures.size + 1}`;
    const askedAt = new Date(this.#world.kernel.now).toISOString();
    this.erasures.set(erasureId, { erasureId, askedBy: 'an operator', askedAt, extractionId: theExtraction });
    this.accept({ search: { erasureId } }, 0);
  }

  /** Whether the record was there when somebody asked to erase it. */
  isAskedFor({ requestedAt }: Extraction): boolean {
    return [...this.erasures.values()].some(({ askedAt }) => requestedAt <= askedAt);
  }

  accept(message: EraseMessage, delaySeconds: number): void {
    const { kernel } = this.#world;
    const deliver = (): void => this.#deliver(JSON.stringify(message));
    if (delaySeconds === 0) deliver();
    else kernel.after(delaySeconds * 1_000, 'a message of an erasure is due', deliver);
  }

  #deliver(body: string): void {
    const { kernel } = this.#world;
    const receive = (): void => this.#receive(body, 1);
    void kernel.call<void>('erase queue', {
      name: 'message of an erasure',
      kind: 'once',
      take: receive,
      others: [
        {
          name: 'twice',
          take: () => {
            receive();
            receive();
          },
        },
        {
          name: 'again later',
          take: () => {
            receive();
            kernel.after(lateSeconds * 1_000, 'a message of an erasure arrives again', receive);
          },
        },
      ],
    });
  }

  #receive(body: string, times: number): void {
    const { kernel } = this.#world;
    this.#consume(body, (done) => {
      if (done) return;
      if (times === maxReceives) this.deadLetters += 1;
      else
        kernel.after(6 * eraseLife * 1_000, 'a message of an erasure is visible again', () =>
          this.#receive(body, times + 1),
        );
    });
  }
}
