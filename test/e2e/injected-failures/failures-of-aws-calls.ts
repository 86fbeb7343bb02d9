import type { FaultRule } from './fault-rule.ts';

/**
 * The throttling errors of each service and their status, and its errors of the statuses 500 and 503. The first is injected once,
 * the second at every try.
 */
const errors = {
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
  dynamodb: {
    throttled: 400,
    throttles: ['ThrottlingException', 'ProvisionedThroughputExceededException'],
    failures: ['InternalServerError', 'ServiceUnavailable'],
  },
  // https://docs.aws.amazon.com/step-functions/latest/apireference/CommonErrors.html
  stepFunctions: {
    throttled: 400,
    throttles: ['ThrottlingException', 'ThrottlingException'],
    failures: ['InternalFailure', 'ServiceUnavailable'],
  },
  // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
  secretsManager: {
    throttled: 400,
    throttles: ['ThrottlingException', 'ThrottlingException'],
    failures: ['InternalServiceError', 'ServiceUnavailable'],
  },
  // https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html
  kms: {
    throttled: 400,
    throttles: ['ThrottlingException', 'ThrottlingException'],
    failures: ['KMSInternalException', 'DependencyTimeoutException'],
  },
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
  sqs: {
    throttled: 400,
    throttles: ['RequestThrottled', 'ThrottlingException'],
    failures: ['InternalError', 'ServiceUnavailable'],
  },
  // https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
  s3: {
    throttled: 503,
    throttles: ['SlowDown', 'SlowDown'],
    failures: ['InternalError', 'ServiceUnavailable'],
  },
} as const;

export type Service = keyof typeof errors;

/** How often the clients of lib/aws/wiring/aws-client-timeouts.ts try a call. */
export const tries = { prompt: 3, intake: 4, patient: 5 } as const;

/** A call to AWS that a function makes. */
export type AwsCall = Pick<FaultRule, 'operation' | 'contains'> & {
  readonly service: Service;
  readonly writes: boolean;
};

export const awsCalls = {
  putItem: { service: 'dynamodb', operation: 'DynamoDB_20120810.PutItem', writes: true },
  updateItem: { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true },
  putObject: { service: 's3', operation: 'PUT /', writes: true },
  sendBatch: { service: 'sqs', operation: 'AmazonSQS.SendMessageBatch', writes: true },
  startExecution: { service: 'stepFunctions', operation: 'AWSStepFunctions.StartExecution', writes: true },
  succeedTask: { service: 'stepFunctions', operation: 'AWSStepFunctions.SendTaskSuccess', writes: true },
} as const satisfies Readonly<Record<string, AwsCall>>;

/** A call to AWS that is made to fail. */
export type InjectedFailure = Pick<FaultRule, 'when' | 'effect'> & {
  readonly title: string;
  /** `killed`: the function's process exits. `once`: one try fails. `always`: every try of the SDK fails. */
  readonly kind: 'killed' | 'once' | 'always';
  readonly times: number;
};

const whenText = { before: 'before it took effect', after: 'after it took effect' } as const;

/**
 * The failures of a call. A write can fail before or after it took effect. For a read the two are the same, so it only fails
 * before.
 */
export const injectedFailures = (
  { service, writes }: Pick<AwsCall, 'service' | 'writes'>,
  attempts: number,
): readonly InjectedFailure[] => {
  const { throttled, throttles, failures } = errors[service];
  const killed = (when: 'before' | 'after'): InjectedFailure => ({
    kind: 'killed',
    title: `killed ${whenText[when]}`,
    when,
    times: 1,
    effect: { kind: 'exit' },
  });
  const answered = (
    kind: 'once' | 'always',
    when: 'before' | 'after',
    status: number,
    errorType: string,
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
        answered('always', 'before', throttled, throttles[1]),
        answered('once', 'after', 500, failures[0]),
        answered('always', 'after', 503, failures[1]),
      ]
    : [
        killed('before'),
        answered('once', 'before', throttled, throttles[0]),
        answered('always', 'before', 503, failures[1]),
      ];
};
