import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
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

/** The scheme of the document: the SHA-256 of the key, AES-256-CBC, `base64(ciphertext)-base64(IV)`. */
const encrypt = (text: string, key: string): string => {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(key).digest(), iv);
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
  return `${ciphertext.toString('base64')}-${iv.toString('base64')}`;
};

/** Makes one attempt, and queues the next one unless the answer is 200 or 204. A taskId of others is ignored. */
export const deliver = async ({ taskId, attempt }: Delivery, ports: DeliveryPorts): Promise<void> => {
  const task = openTaskId(await ports.tokenKey(), taskId);
  if (task === undefined) return;
  const { webhookUrl, signingKey } = await ports.registration();
  const plain = JSON.stringify({ taskId, taskStatus: task.outcome });
  const body = task.webhook === 'encrypted' ? JSON.stringify({ data: encrypt(plain, signingKey) }) : plain;
  const signature = createHmac('sha256', signingKey).update(body).digest('hex');
  const status = await ports
    .post(webhookUrl, body, { 'x-service-signature': `sha256=${signature}` })
    .catch(() => undefined);
  if (status === 200 || status === 204 || attempt >= task.attempts) return;
  await ports.queue({ taskId, attempt: attempt + 1 }, secondsBetweenAttempts);
};
