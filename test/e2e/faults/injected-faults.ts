import type { FaultRule } from './rule.ts';

/** What a function can call, and how each says "too much" and "not now": first when it passes, then when it stays. */
const answers = {
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

export type Service = keyof typeof answers;

/** Tries of the clients of lib/aws/wiring/client-options.ts. */
export const tries = { prompt: 3, patient: 5 } as const;

/** What can happen to one call of a function. */
export type Mishap = Pick<FaultRule, 'when' | 'times' | 'effect'> & {
  readonly title: string;
  /** `killed`: the function died. `passed`: the SDK's next try went well. `failed`: it used up all of them. */
  readonly kind: 'killed' | 'passed' | 'failed';
};

const whenText = { before: 'before it took effect', after: 'after it took effect' } as const;

/**
 * What can happen to a call. A write can be cut off before or after it took effect. A read has no effect, so that it is
 * the same whether the request or its answer is lost.
 */
export const mishapsOf = (
  { service, writes }: { readonly service: Service; readonly writes: boolean },
  attempts: number,
): readonly Mishap[] => {
  const { throttles, failures } = answers[service];
  const killed = (when: 'before' | 'after'): Mishap => ({
    kind: 'killed',
    title: `killed ${whenText[when]}`,
    when,
    effect: { kind: 'exit' },
  });
  const answered = (
    kind: 'passed' | 'failed',
    when: 'before' | 'after',
    [status, errorType]: readonly [number, string],
  ): Mishap => ({
    kind,
    title: `answered ${errorType} ${kind === 'passed' ? 'once' : 'at every try'} ${whenText[when]}`,
    when,
    times: kind === 'passed' ? 1 : attempts,
    effect: { kind: 'answer', status, errorType },
  });
  return writes
    ? [
        killed('before'),
        killed('after'),
        answered('failed', 'before', throttles[1]),
        answered('passed', 'after', failures[0]),
        answered('failed', 'after', failures[1]),
      ]
    : [
        killed('before'),
        answered('passed', 'before', throttles[0]),
        answered('failed', 'before', failures[1]),
      ];
};
