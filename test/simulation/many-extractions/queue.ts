import type { BatchAnswer, ReceivedMessage } from '#lib/extraction/handle-messages.ts';
import { untilNextReceive } from '../models/queue.ts';
import type { Functions } from './functions.ts';
import type { Service } from './service.ts';
import { lifeOf } from './settings.ts';

type Waiting = { readonly of: string; readonly body: string; readonly group: string; receives: number };

/** The messages of a group: those that are visible, the oldest first, and how many are under way. */
type Group = { readonly visible: (Waiting & { readonly shownAs: number })[]; underWay: number };

type Consumers = {
  /** How many messages are consumed at once. */
  readonly atOnce: number;
  readonly consume: (functions: Functions, messages: readonly ReceivedMessage[]) => Promise<BatchAnswer>;
};

/**
 * A queue and its consumers. A message whose consumer fails or ends is visible again after the visibility timeout, and in the end it is a dead
 * letter, which nobody redrives. Of several groups, that with the fewest messages under way is next, as a fair queue of SQS has it.
 */
export class Queue {
  readonly #service: Service;
  readonly #consumers: Consumers;
  readonly #groups = new Map<string, Group>();
  #visible = 0;
  #shown = 0;
  #consuming = 0;
  /** The most messages that waited at one time, and that time. */
  longest = { messages: 0, at: 0 };

  constructor(service: Service, consumers: Consumers) {
    this.#service = service;
    this.#consumers = consumers;
  }

  /** `of`: whom its invocation is about. */
  accept(
    message: object,
    { of, delaySeconds = 0, group = '' }: { of: string; delaySeconds?: number; group?: string },
  ): void {
    const { time, choices } = this.#service;
    const milliseconds = delaySeconds * 1_000 + choices.milliseconds(of, 5, 50);
    time.after(milliseconds, () => this.#show({ of, body: JSON.stringify(message), group, receives: 0 }));
  }

  #show(one: Waiting): void {
    this.#shown += 1;
    this.#groupOf(one).visible.push(Object.assign(one, { shownAs: this.#shown }));
    this.#visible += 1;
    const messages = this.#visible;
    if (messages > this.longest.messages) this.longest = { messages, at: this.#service.time.now };
    void this.#consume();
  }

  #groupOf({ group: name }: Waiting): Group {
    const group = this.#groups.get(name) ?? { visible: [], underWay: 0 };
    this.#groups.set(name, group);
    return group;
  }

  /** The oldest of the group that has the fewest under way. */
  #next(): Waiting | undefined {
    const [next] = [...this.#groups.values()]
      .flatMap(({ visible: [oldest], underWay }) => (oldest === undefined ? [] : [{ oldest, underWay }]))
      .sort((one, other) => one.underWay - other.underWay || one.oldest.shownAs - other.oldest.shownAs);
    if (next === undefined) return undefined;
    this.#visible -= 1;
    return this.#groupOf(next.oldest).visible.shift();
  }

  async #consume(): Promise<void> {
    if (this.#consuming >= this.#consumers.atOnce) return;
    const one = this.#next();
    if (one === undefined) return;
    const { of, body } = one;
    const group = this.#groupOf(one);
    this.#consuming += 1;
    group.underWay += 1;
    one.receives += 1;
    const isDone = await this.#service
      .invoke('reconcile', of, (functions) =>
        this.#consumers.consume(functions, [{ messageId: 'message', body }]),
      )
      .then(({ batchItemFailures }) => batchItemFailures.length === 0)
      .catch(() => false);
    this.#consuming -= 1;
    group.underWay -= 1;
    const pause = isDone ? undefined : untilNextReceive(one.receives, lifeOf.reconcile);
    // From the receive on; the consumer took a part of it.
    if (pause !== undefined) this.#service.time.after(pause, () => this.#show(one));
    void this.#consume();
  }
}
