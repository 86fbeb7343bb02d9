/** One request that a function made while it handled an invocation. Times are milliseconds since the epoch. */
export type Call = {
  /** The service in AWS's signature (`dynamodb`, `states`, `kms`, `s3`, …). `provider` for unsigned requests. */
  readonly service: string;
  /** `UpdateItem`, or the method, such as `PUT`, for a REST service. */
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly statusCode: number;
  /** Bytes of the answer's body. */
  readonly answerBytes: number;
  /** The parsed bodies, for DynamoDB only: its units depend on them. */
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly answered?: Readonly<Record<string, unknown>>;
};

/** One invocation of a function, recorded by its process. */
export type Entry = {
  /** The function's name in logs, such as `start-task`. */
  readonly function: string;
  readonly requestId: string;
  /** Counts from 1 for each process. The first one also initializes. */
  readonly ordinal: number;
  /** User and system time of the whole process from the event's arrival to the answer, in milliseconds. */
  readonly cpuMs: number;
  /** Of a process's first invocation: the CPU time until its event arrived, Node's start and the loading included. */
  readonly initCpuMs?: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
  /** The event's route of the API, or its trigger: for a message of the queue, its cause. */
  readonly routeKey?: string;
  readonly trigger?: string;
  /** The extraction that the event or its message names. Absent if it came through the API. */
  readonly extractionId?: string;
  /** Bytes of the event's body, if it came through the API. Billed in steps of 512 KB. */
  readonly bodyBytes: number;
  readonly calls: readonly Call[];
};

/** Whether the invocation found the task running: the machine's throws, and the queue's sends the next message. */
export const isPoll = ({ function: name, failed, calls }: Entry): boolean =>
  failed || (name === 'reconcile-extraction' && calls.some(({ service }) => service === 'sqs'));

/** Display names by the names that AWS signs for. */
const services: Readonly<Record<string, string>> = {
  events: 'EventBridge',
  kms: 'KMS',
  s3: 'S3',
  secretsmanager: 'Secrets Manager',
  sqs: 'SQS',
  states: 'Step Functions',
};

/** The name of a call: `KMS Decrypt`, or of its table or index, `Extractions UpdateItem` and `due Query`. */
export const nameOfCall = ({ service, operation }: Call, table?: string): string =>
  `${table ?? services[service] ?? service} ${operation}`;
