import { defined } from '#lib/defined.ts';
import { createProviderClient, type ProviderClient } from '#lib/provider/client.ts';
import { receiveDelivery } from '#lib/webhook/receive-delivery.ts';
import { signingKeyOf } from '#lib/webhook/verify-signature.ts';
import { createApp } from '#tools/acceptance/fake-provider/function/app.ts';
import type { ProviderPorts } from '#tools/acceptance/fake-provider/function/call.ts';
import { type Delivery, deliver } from '#tools/acceptance/fake-provider/function/deliver.ts';

const registration = {
  webhookUrl: 'https://cosecha.example/webhooks/provider',
  signingKey: 'the signing key',
  apiKey: 'the API key',
};

type Received = Awaited<ReturnType<typeof receiveDelivery>>;

/**
 * The fake provider with Cosecha's own client and webhook in front of it: neither shares code for signing or encryption with the
 * fake provider.
 */
export const connectFakeProvider = () => {
  const queued: { readonly delivery: Delivery; readonly delaySeconds: number }[] = [];
  /** What Cosecha made of each webhook, and how many start calls had been answered by then. */
  const received: Received[] = [];
  const now = 1_795_000_000;
  let issued = 0;
  const ports: ProviderPorts = {
    now: () => now,
    nonce: () => `n${issued++}`,
    sleep: async () => {},
    tokenKey: async () => 'the token key',
    registration: async () => registration,
    post: async (_url, body, headers) => {
      received.push(await receive(body, headers['x-service-signature']));
      return 204;
    },
    queue: async (delivery, delaySeconds) => void queued.push({ delivery, delaySeconds }),
  };
  const app = createApp(ports);
  const clientWith = (options: Partial<Parameters<typeof createProviderClient>[0]> = {}): ProviderClient =>
    createProviderClient({
      baseUrl: 'https://provider.example',
      apiKey: registration.apiKey,
      clientId: '00000000-0000-4000-8000-0000000c0de0',
      now: () => new Date(now * 1_000),
      fetch: async (url, { method, headers, body }) => {
        const answer = await app.request(url, { method, headers, ...defined({ body }) });
        return { status: answer.status, body: answer.body as never };
      },
      ...options,
    });
  /** Delivers everything that is queued now, as the queue does once it is due. */
  const deliverQueued = async (): Promise<void> => {
    for (const { delivery } of queued.splice(0)) await deliver(delivery, ports);
  };
  return { ports, queued, received, clientWith, client: clientWith(), deliverQueued };
};

const receive = (body: string, signature: string | undefined): Promise<Received> =>
  receiveDelivery(
    { body, isBase64Encoded: false, signature },
    {
      keys: {
        current: async () => [signingKeyOf(registration.signingKey)],
        refreshed: async () => [],
      },
      explainMismatch: () => undefined,
      record: async ({ taskStatus }) => taskStatus as never,
      telemetry: { count: () => undefined, log: () => undefined },
    },
  );
