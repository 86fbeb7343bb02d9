import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problem } from '../http/problem.ts';
import { type ReceiveDeliveryDeps, type ReceivedDelivery, receiveDelivery } from './receive-delivery.ts';

/** The part of an API Gateway event that the webhook reads. Header names are in lower case. */
export type DeliveryEvent = {
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

export type AnswerDeliveryDeps = ReceiveDeliveryDeps & {
  /** Logs the result. */
  readonly onReceived: (received: ReceivedDelivery) => void;
};

const problems = { 413: 'too-large', 401: 'unauthorized', 400: 'invalid-request' } as const;

/**
 * Answers one delivery. All causes of a status have the same answer. A sender without a key learns nothing about the
 * keys, and a sender with one learns nothing about the cipher. Throws what a dependency throws.
 */
export const answerDelivery = async (
  event: DeliveryEvent,
  deps: AnswerDeliveryDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const received = await receiveDelivery(
    {
      body: event.body,
      isBase64Encoded: event.isBase64Encoded,
      signature: event.headers['x-service-signature'],
    },
    deps,
  );
  deps.onReceived(received);
  return received.answer === 204 ? { statusCode: 204 } : problem(problems[received.answer]);
};
