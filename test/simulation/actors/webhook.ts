import { createHmac } from 'node:crypto';
import { recordDelivery } from '#lib/extraction/record-delivery.ts';
import { cacheSigningKeys } from '#lib/webhook/cache-signing-keys.ts';
import { type RawDelivery, receiveDelivery } from '#lib/webhook/receive-delivery.ts';
import type { ProviderTask } from '../world/provider.ts';
import { lifeOf, timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { sendFor, wakeFor } from './calls.ts';
import { tablesFor } from './tables.ts';

const signingKey = 'secret-signing-key';
const signed = new Map<string, RawDelivery>();

/** The provider's POST. Signed once for each body, because signing is not part of the simulation. */
const deliveryOf = ({ taskId, status }: ProviderTask): RawDelivery => {
  const body = JSON.stringify({ taskId, taskStatus: status });
  const known = signed.get(body);
  if (known !== undefined) return known;
  const signature = `sha256=${createHmac('sha256', signingKey).update(body).digest('hex')}`;
  const delivery = { body, isBase64Encoded: false, signature };
  signed.set(body, delivery);
  return delivery;
};

/** receive-webhook: one delivery. Calls `answered` with whether the answer was 204. */
export const webhookOf = (world: World) => {
  let invocations = 0;
  return (task: ProviderTask, answered: (acknowledged: boolean) => void): void => {
    const { kernel } = world;
    invocations += 1;
    kernel.spawn(
      `webhook ${invocations}`,
      lifeOf.webhook,
      (process) =>
        receiveDelivery(deliveryOf(task), {
          keys: cacheSigningKeys({
            fetchKeys: () =>
              kernel.call(process, {
                name: 'read signing keys',
                kind: 'read',
                take: () => [{ text: signingKey }],
              }),
            refreshEveryMs: 15_000,
            now: world.now,
          }),
          explainMismatch: () => undefined,
          record: (delivery) =>
            recordDelivery(delivery, {
              ...tablesFor(world, process),
              send: sendFor(world, process),
              wake: wakeFor(world, process, 'webhook'),
              now: world.now,
              timings,
              telemetry: world.telemetry,
            }),
          telemetry: world.telemetry,
        }),
      (end) => {
        const acknowledged = end.kind === 'returned' && end.value.answer === 204;
        if (acknowledged) world.acknowledge(task.taskId);
        answered(acknowledged);
      },
    );
  };
};
