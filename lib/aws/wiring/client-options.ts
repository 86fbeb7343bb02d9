/**
 * AWS client options for functions that answer a caller, in milliseconds. The webhook must answer within 5 s, cold
 * start included ("Events", rule 8), and makes four calls in sequence. DynamoDB usually answers within 20 ms. With
 * three tries of 1 s, one slow call leaves time for the other three.
 * Without `throwOnRequestTimeout` the SDK only logs a warning
 * (https://github.com/smithy-lang/smithy-typescript/blob/main/packages/types/src/http/httpHandlerInitialization.ts).
 */
export const promptClient = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
};

/** AWS client options for functions without a caller. They wait longer, because a lost write could lose an outcome. */
export const patientClient = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

/**
 * For SQS. By default its client calls the host in the queue's URL. The regional endpoint takes the same calls, and on an
 * emulator that host does not resolve. It would also compare the MD5 of each message with SQS's; TLS protects messages already.
 */
const queueOptions = { useQueueUrlAsEndpoint: false, md5: false } as const;

export const promptQueueClient = { ...promptClient, ...queueOptions };
export const patientQueueClient = { ...patientClient, ...queueOptions };
