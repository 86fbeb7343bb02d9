import type { Delivery, DeliveryFailure } from '../event-log.ts';
import type { DeliveryShape, WebhookMode } from '../plan-schemas.ts';
import type { Client, Sandbox } from '../state-types.ts';
import { makeDelivery, type SignedDelivery, signDelivery } from './make-delivery.ts';

export type DeliveryInput = {
  readonly client: Client;
  readonly taskId: string;
  readonly taskStatus: string;
  /** 0: requested through the control interface. */
  readonly attempt: number;
  readonly shape: DeliveryShape;
};

/**
 * Sends one POST and records the result. URL, key and mode are the current settings. `body` is the receiver's answer as text,
 * which is never recorded.
 */
export const attemptDelivery = async (
  sandbox: Sandbox,
  { client, taskId, attempt, shape, ...input }: DeliveryInput,
): Promise<{ readonly delivery: Delivery; readonly body?: string }> => {
  const taskStatus = shape.statusOverride ?? input.taskStatus;
  const started = { attempt, at: new Date(sandbox.clock.now()).toISOString(), taskStatus };
  const { url, signingKey: configuredKey } = client.webhook;
  const signingKey = shape.signingKey ?? configuredKey;
  if (url === undefined || signingKey === undefined) {
    return { delivery: recordDelivery(sandbox, taskId, { ...started, error: 'not-configured' }) };
  }
  const mode: WebhookMode = shape.mode ?? client.webhook.mode;
  const signed = makeDelivery(taskId, taskStatus, signingKey, mode, withMarker(sandbox, shape));
  const signatureValid =
    configuredKey !== undefined && signed.signature === signDelivery(signed.body, configuredKey);
  const { outcome, ...answer } = await post(url, signed, sandbox);
  const delivery = { ...started, mode, signatureValid, ...outcome };
  return { delivery: recordDelivery(sandbox, taskId, delivery), ...answer };
};

const withMarker = ({ settings }: Sandbox, shape: DeliveryShape): DeliveryShape => {
  const { webhook: marker } = settings.markers;
  return marker === undefined ? shape : { ...shape, extraFields: { marker, ...shape.extraFields } };
};

/** Only 200 and 204 are success ("Events" 7). */
export const isDelivered = (delivery: Delivery): boolean =>
  delivery.status === 200 || delivery.status === 204;

export const recordDelivery = (sandbox: Sandbox, taskId: string, delivery: Delivery): Delivery => {
  sandbox.tasks.get(taskId)?.deliveries.push(delivery);
  sandbox.events.append({ type: 'delivery', taskId, delivery });
  return delivery;
};

type Answer = {
  readonly outcome: { readonly status: number } | { readonly error: DeliveryFailure };
  readonly body?: string;
};

const post = async (
  url: string,
  { body, signature }: SignedDelivery,
  { settings, pending }: Sandbox,
): Promise<Answer> => {
  const timedOut = AbortSignal.timeout(settings.attemptTimeoutMs);
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
      signal: AbortSignal.any([timedOut, pending.signal]),
    });
    return { outcome: { status: response.status }, body: await response.text() };
  } catch {
    return { outcome: { error: timedOut.aborted ? 'timeout' : 'unreachable' } };
  }
};
