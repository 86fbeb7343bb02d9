import type { DeliveryShape, WebhookMode } from '../plan.ts';
import type { Client, Delivery, DeliveryFailure, Sandbox } from '../state.ts';
import { makeDelivery } from './make-delivery.ts';
import { signDelivery } from './sign-delivery.ts';
import type { SignedDelivery } from './tamper-delivery.ts';

export type DeliveryOrder = {
  readonly client: Client;
  readonly taskId: string;
  readonly taskStatus: string;
  /** 0: ordered through the control interface. */
  readonly attempt: number;
  readonly shape: DeliveryShape;
};

/** `body`: what the receiver answered, as text. It is handed to who ordered the delivery, never recorded. */
export type AttemptedDelivery = {
  readonly delivery: Delivery;
  readonly body?: string;
};

/** Makes one POST and records how it went. URL, key and mode are those configured at this moment. */
export const attemptDelivery = async (sandbox: Sandbox, order: DeliveryOrder): Promise<AttemptedDelivery> => {
  const { client, taskId, shape } = order;
  const taskStatus = shape.statusOverride ?? order.taskStatus;
  const begun = { attempt: order.attempt, at: new Date(sandbox.clock.now()).toISOString(), taskStatus };
  const { url, signingKey: configuredKey } = client.webhook;
  const signingKey = shape.signingKey ?? configuredKey;
  if (url === undefined || signingKey === undefined) {
    return recordDelivery(sandbox, taskId, { ...begun, error: 'not-configured' });
  }
  const mode: WebhookMode = shape.mode ?? client.webhook.mode;
  const signed = makeDelivery(taskId, taskStatus, signingKey, mode, withMark(sandbox, shape));
  const signatureValid =
    configuredKey !== undefined && signed.signature === signDelivery(signed.body, configuredKey);
  const answer = await post(url, signed, sandbox.settings.attemptTimeoutMs, sandbox.pending.signal);
  return recordDelivery(sandbox, taskId, { ...begun, mode, signatureValid, ...answer.outcome }, answer.body);
};

const withMark = ({ settings }: Sandbox, shape: DeliveryShape): DeliveryShape => {
  const { webhook: mark } = settings.marks;
  return mark === undefined ? shape : { ...shape, extraFields: { mark, ...shape.extraFields } };
};

/** Success is 200 or 204, nothing else ("Events" 7). */
export const isDelivered = (delivery: Delivery): boolean =>
  delivery.status === 200 || delivery.status === 204;

export const recordDelivery = (
  sandbox: Sandbox,
  taskId: string,
  delivery: Delivery,
  body?: string,
): AttemptedDelivery => {
  sandbox.tasks.get(taskId)?.deliveries.push(delivery);
  sandbox.events.append({ type: 'delivery', taskId, delivery });
  return body === undefined ? { delivery } : { delivery, body };
};

type Answer = {
  readonly outcome: { readonly status: number } | { readonly error: DeliveryFailure };
  readonly body?: string;
};

const post = async (
  url: string,
  { body, signature }: SignedDelivery,
  timeoutMs: number,
  stopped: AbortSignal,
): Promise<Answer> => {
  const timedOut = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature === undefined ? {} : { 'x-service-signature': signature }),
      },
      body,
      // A redirect is an answer that is neither 200 nor 204.
      redirect: 'manual',
      signal: AbortSignal.any([timedOut, stopped]),
    });
    return { outcome: { status: response.status }, body: await response.text() };
  } catch {
    return { outcome: { error: timedOut.aborted ? 'timeout' : 'unreachable' } };
  }
};
