import type { FaultRule } from './rule.ts';

/** The throttling and server errors of each service: the first is injected once, the second at every try. */
const errors = {
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
  dynamodb: {
    throttles: [
      [400, 'ThrottlingException'],
      [400, 'ProvisionedThroughputExceededException'],
    ],
    failures: [
      [500, 'InternalServerError'],
      [503, 'ServiceUnavailable'],
    ],
  },
  // https://docs.aws.amazon.com/step-functions/latest/apireference/CommonErrors.html
  stepFunctions: {
    throttles: [
      [400, 'ThrottlingException'],
      [400, 'ThrottlingException'],
    ],
    failures: [
      [500, 'InternalFailure'],
      [503, 'ServiceUnavailable'],
    ],
  },
  // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
  secretsManager: {
    throttles: [
      [400, 'ThrottlingException'],
      [400, 'ThrottlingException'],
    ],
    failures: [
      [500, 'InternalServiceError'],
      [503, 'ServiceUnavailable'],
    ],
  },
  // https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html
  kms: {
    throttles: [
      [400, 'ThrottlingException'],
      [400, 'ThrottlingException'],
    ],
    failures: [
      [500, 'KMSInternalException'],
      [503, 'DependencyTimeoutException'],
    ],
  },
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
  sqs: {
    throttles: [
      [400, 'RequestThrottled'],
      [400, 'ThrottlingException'],
    ],
    failures: [
      [500, 'InternalError'],
      [503, 'ServiceUnavailable'],
    ],
  },
  // https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
  s3: {
    throttles: [
      [503, 'SlowDown'],
      [503, 'SlowDown'],
    ],
    failures: [
      [500, 'InternalError'],
      [503, 'ServiceUnavailable'],
    ],
  },
} as const;

export type Service = keyof typeof errors;

/** How often the clients of lib/aws/wiring/client-options.ts try a call. */
export const tries = { removing: 2, prompt: 3, intake: 4, patient: 5 } as const;

/** A call to AWS that is made to fail. */
export type InjectedFailure = Pick<FaultRule, 'when' | 'times' | 'effect'> & {
  readonly title: string;
  /** `killed`: the function's process exits. `once`: one try fails. `always`: every try of the SDK fails. */
  readonly kind: 'killed' | 'once' | 'always';
};

const whenText = { before: 'before it took effect', after: 'after it took effect' } as const;

/**
 * The failures of a call. A write can fail before or after it took effect. For a read the two are the same, so it only fails
 * before.
 */
export const injectedFailures = (
  { service, writes }: { readonly service: Service; readonly writes: boolean },
  attempts: number,
): readonly InjectedFailure[] => {
  const { throttles, failures } = errors[service];
  const killed = (when: 'before' | 'after'): InjectedFailure => ({
    kind: 'killed',
    title: `killed ${whenText[when]}`,
    when,
    effect: { kind: 'exit' },
  });
  const answered = (
    kind: 'once' | 'always',
    when: 'before' | 'after',
    [status, errorType]: readonly [number, string],
  ): InjectedFailure => ({
    kind,
    title: `answered ${errorType} ${kind === 'once' ? 'once' : 'at every try'} ${whenText[when]}`,
    when,
    times: kind === 'once' ? 1 : attempts,
    effect: { kind: 'answer', status, errorType },
  });
  return writes
    ? [
        killed('before'),
        killed('after'),
        answered('always', 'before', throttles[1]),
        answered('once', 'after', failures[0]),
        answered('always', 'after', failures[1]),
      ]
    : [killed('before'), answered('once', 'before', throttles[0]), answered('always', 'before', failures[1])];
};
