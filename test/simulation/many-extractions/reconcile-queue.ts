import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import { untilNextReceive } from '../models/queue.ts';
import type { Service } from './service.ts';
import { lifeOf } from './settings.ts';

type Message = { readonly message: ReconcileMessage; receives: number };

/**
 * The reconcile queue or the slow queue, and its consumers. A message whose consumer fails or ends is visible again after the visibility timeout,
 * and in the end it is a dead letter, which nobody redrives.
 */
export class ReconcileQueue {
  readonly #service: Service;
  readonly #isSlow: boolean;
  readonly #visible: Message[] = [];
  #consumers = 0;
  /** How many messages it accepted. */
  accepted = 0;
  /** The most messages that waited at one time, and that time. */
  longest = { messages: 0, at: 0 };

  constructor(service: Service, isSlow: boolean) {
    this.#service = service;
    this.#isSlow = isSlow;
  }

  accept(message: ReconcileMessage, delaySeconds: number): void {
    this.accepted += 1;
    const { time, choices } = this.#service;
    const milliseconds = delaySeconds * 1_000 + choices.milliseconds(message.extractionId, 5, 50);
    time.after(milliseconds, () => this.#show({ message, receives: 0 }));
  }

  #show(one: Message): void {
    this.#visible.push(one);
    const messages = this.#visible.length;
    if (messages > this.longest.messages) this.longest = { messages, at: this.#service.time.now };
    void this.#consume();
  }

  async #consume(): Promise<void> {
    if (this.#consumers >= this.#service.population.consumers) return;
    const one = this.#visible.shift();
    if (one === undefined) return;
    this.#consumers += 1;
    one.receives += 1;
    const { extractionId } = one.message;
    const message = { messageId: 'message', body: JSON.stringify(one.message) };
    const isDone = await this.#service
      .invoke('reconcile', extractionId, ({ reconcileMessages }) =>
        reconcileMessages([message], this.#isSlow),
      )
      .then(({ batchItemFailures }) => batchItemFailures.length === 0)
      .catch(() => false);
    this.#consumers -= 1;
    const pause = isDone ? undefined : untilNextReceive(one.receives, lifeOf.reconcile);
    // From the receive on; the consumer took a part of it.
    if (pause !== undefined) this.#service.time.after(pause, () => this.#show(one));
    void this.#consume();
  }
}
