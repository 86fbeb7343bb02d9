import type { DeliveryShape, WebhookMode } from '../plan-schemas.ts';
import type { Client, Delivery, DeliveryFailure, Sandbox } from '../state-types.ts';
import { makeDelivery, type SignedDelivery, signDelivery } from './make-delivery.ts';

export type DeliveryInput = {
  readonly client: Client;
  readonly taskId: string;
  readonly taskStatus: string;
  /** 0: requested through the control interface. */
  readonly attempt: number;
  readonly shape: DeliveryShape;
};

/** `body`: the receiver's answer as text. It is returned to the caller and never recorded. */
export type AttemptedDelivery = {
  readonly delivery: Delivery;
  readonly body?: string;
};

/** Sends one POST and records the result. URL, key and mode are the current settings. */
export const attemptDelivery = async (sandbox: Sandbox, input: DeliveryInput): Promise<AttemptedDelivery> => {
  const { client, taskId, shape } = input;
  const taskStatus = shape.statusOverride ?? input.taskStatus;
  const started = { attempt: input.attempt, at: new Date(sandbox.clock.now()).toISOString(), taskStatus };
  const { url, signingKey: configuredKey } = client.webhook;
  const signingKey = shape.signingKey ?? configuredKey;
  if (url === undefined || signingKey === undefined) {
    return recordDelivery(sandbox, taskId, { ...started, error: 'not-configured' });
  }
  const mode: WebhookMode = shape.mode ?? client.webhook.mode;
  const signed = makeDelivery(taskId, taskStatus, signingKey, mode, withMarker(sandbox, shape));
  const signatureValid =
    configuredKey !== undefined && signed.signature === signDelivery(signed.body, configuredKey);
  const answer = await post(url, signed, sandbox.settings.attemptTimeoutMs, sandbox.pending.signal);
  return recordDelivery(
    sandbox,
    taskId,
    { ...started, mode, signatureValid, ...answer.outcome },
    answer.body,
  );
};

const withMarker = ({ settings }: Sandbox, shape: DeliveryShape): DeliveryShape => {
  const { webhook: marker } = settings.markers;
  return marker === undefined ? shape : { ...shape, extraFields: { marker, ...shape.extraFields } };
};

/** Only 200 and 204 are success ("Events" 7). */
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
      // A redirect is an answer other than 200 and 204.
      redirect: 'manual',
      signal: AbortSignal.any([timedOut, stopped]),
    });
    return { outcome: { status: response.status }, body: await response.text() };
  } catch {
    return { outcome: { error: timedOut.aborted ? 'timeout' : 'unreachable' } };
  }
};
