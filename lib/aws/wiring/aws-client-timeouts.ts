/**
 * AWS client options for functions that answer at once, in milliseconds. The webhook must answer within 5 s, cold start included
 * ("Events", rule 8). It records the status, settles, sends and wakes, one after the other. `CREDENTIALS_WRONG` also has the
 * notice, the mark and `isMarked`, and a cold start the secret: eight calls of some 20 ms. One slow call may use 3 × 1 s, and the
 * pauses before its retries 50 + 100 = 150 ms at most. That leaves 1.8 s for a cold start and the other seven. With two slow calls the
 * provider no longer waits. The function has 10 s to finish them, and the next delivery repeats what it could not.
 * Without `throwOnRequestTimeout` the SDK only logs a warning
 * (https://github.com/smithy-lang/smithy-typescript/blob/main/packages/types/src/http/httpHandlerInitialization.ts).
 */
export const promptClient = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
};

/**
 * AWS client options for request-extraction. Its caller waits longer than the 5 s of the provider. In a burst a call may
 * take seconds, and a 500 costs the caller a retry. The function has 15 s, of the 30 s that API Gateway waits
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html). One call may use 4 × 2.5 s = 10 s, and
 * the pauses before its retries 50 + 100 + 200 = 350 ms at most. That leaves 4.6 s for a cold start and the other calls: the secret, if
 * cold, Encrypt, two puts and StartExecution, and for a repeated request a removal and two counts too. A call that is throttled pauses
 * for 1 + 2 + 4 = 7 s at most.
 */
export const intakeClient = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_500, throwOnRequestTimeout: true },
};

/** AWS client options for StartExecution, whose tries `startExecutionOf` counts. */
export const oneTryClient = { ...intakeClient, maxAttempts: 1 };

/**
 * AWS client options for removals from `Requests`. The caller does not wait long for them: an item that stays
 * expires. Two tries of 500 ms, and a pause of 50 ms at most between them.
 */
export const removingClient = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 500, requestTimeout: 500, throwOnRequestTimeout: true },
};

/** AWS client options for functions without a caller. They wait longer, because a lost write could lose an outcome. */
export const patientClient = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

/**
 * Options for SQS. By default its client calls the host in the queue's URL, which does not resolve on an emulator. The regional endpoint
 * takes the same calls. The client would also compare the MD5 of each message with SQS's, but TLS already protects messages.
 */
const queueOptions = { useQueueUrlAsEndpoint: false, md5: false } as const;

export const promptQueueClient = { ...promptClient, ...queueOptions };
export const patientQueueClient = { ...patientClient, ...queueOptions };
