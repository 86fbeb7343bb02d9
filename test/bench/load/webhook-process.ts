/**
 * Measures the webhook's handler in this process, in turns with the bare one, and sends the result to its parent. The
 * handler's log is written as in Lambda, to the null device. The parent sets the environment variables of the stack.
 */
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { handler } from '../../../functions/receive-webhook.ts';
import { makeDelivery } from '../../sandbox/webhook/make-delivery.ts';
import { signingKey } from '../cold/first-delivery.ts';
import { bareHandler } from './bare-webhook.ts';

export type Kind = 'valid' | 'encrypted' | 'forged' | 'bare';

/** One turn of one kind. */
export type Turn = {
  readonly kind: Kind;
  readonly deliveries: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
};

type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

const ours = handler as unknown as Handler;

const variants: Readonly<
  Record<Kind, { readonly handle: Handler; readonly mode: 'plain' | 'encrypted'; readonly status: number }>
> = {
  valid: { handle: ours, mode: 'plain', status: 204 },
  encrypted: { handle: ours, mode: 'encrypted', status: 204 },
  forged: { handle: ours, mode: 'plain', status: 401 },
  bare: { handle: bareHandler, mode: 'plain', status: 204 },
};

const kinds = Object.keys(variants) as readonly Kind[];

/** A turn that calls AWS takes about 0.2 s. */
const rounds = 12;
const perTurn = 120;

/** A delivery as API Gateway's event, payload format 2.0. */
const eventOf = (kind: Kind): APIGatewayProxyEventV2 => {
  const key = kind === 'forged' ? `${signingKey}?` : signingKey;
  const { body, signature = '' } = makeDelivery(randomUUID(), 'COMPLETED', key, variants[kind].mode, {});
  return {
    version: '2.0',
    routeKey: 'POST /webhooks/provider',
    rawPath: '/webhooks/provider',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'x-service-signature': signature },
    isBase64Encoded: false,
    body: Buffer.from(body).toString(),
  } as unknown as APIGatewayProxyEventV2;
};

const context = { awsRequestId: randomUUID(), functionName: 'receive-webhook' } as Context;

const takeTurn = async (kind: Kind): Promise<Turn> => {
  const { handle, status } = variants[kind];
  const events = Array.from({ length: perTurn }, () => eventOf(kind));
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (const event of events) {
    // One after the other, as in Lambda.
    const answer = await handle(event, context);
    if (answer.statusCode !== status)
      throw new Error(`A ${kind} delivery was answered ${answer.statusCode}.`);
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { kind, deliveries: perTurn, seconds, cpuSeconds: (user + system) / 1_000_000 };
};

process.on('disconnect', () => process.exit(0));
// Warm-up: the compiler optimizes the code.
for (const kind of kinds) for (let turn = 0; turn < 3; turn += 1) await takeTurn(kind);
const turns: Turn[] = [];
for (let round = 0; round < rounds; round += 1) {
  // Each is first in a quarter of the rounds, so that none always follows the same one.
  const order = kinds.map((_, index) => kinds[(index + round) % kinds.length] ?? 'bare');
  for (const kind of order) turns.push(await takeTurn(kind));
}
process.send?.(turns);
process.disconnect();
