import { encryptDelivery, signDelivery } from '../../../../sandbox/webhook/make-delivery.ts';
import { openTaskId } from './task.ts';

/** One attempt of a webhook, as it waits in the queue. The task is in its id. */
export type Delivery = { readonly taskId: string; readonly attempt: number };

/** What a client has agreed with the provider. `npm run accept` fills it in. */
export type Registration = Readonly<Record<'webhookUrl' | 'signingKey' | 'apiKey', string>>;

/** How long a process of the fake provider uses what it has read. A new registration holds everywhere after this time. */
export const secretKeptSeconds = 2;

export interface DeliveryPorts {
  tokenKey(): Promise<string>;
  registration(): Promise<Registration>;
  /** Sends one POST, and returns the status of the answer. Throws if there is none within 5 s. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number>;
  queue(delivery: Delivery, delaySeconds: number): Promise<void>;
}

/** "Attempt 2 after 30 seconds, attempt 3 after 60 seconds" ("Events", rule 8). */
const secondsBetweenAttempts = 30;

/** Makes one attempt, and queues the next one unless the answer is 200 or 204. A taskId of others is ignored. */
export const deliver = async ({ taskId, attempt }: Delivery, ports: DeliveryPorts): Promise<void> => {
  const task = openTaskId(await ports.tokenKey(), taskId);
  if (task === undefined) return;
  const { webhookUrl, signingKey } = await ports.registration();
  const plain = JSON.stringify({ taskId, taskStatus: task.outcome });
  const body = task.webhook === 'encrypted' ? encryptDelivery(plain, signingKey) : plain;
  const status = await ports
    .post(webhookUrl, body, { 'x-service-signature': signDelivery(body, signingKey) })
    .catch(() => undefined);
  if (status === 200 || status === 204 || attempt >= task.attempts) return;
  await ports.queue({ taskId, attempt: attempt + 1 }, secondsBetweenAttempts);
};
