/** One request that a function made while it handled an invocation. Times are milliseconds since the epoch. */
export type Call = {
  /** As AWS signs for it (`dynamodb`, `states`, `kms`, `s3`, …); `provider` where nothing was signed. */
  readonly service: string;
  /** `UpdateItem`, or `PUT` where the service names its operations by method. */
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly statusCode: number;
  /** Of the answer's body: all that the function learns from the call. */
  readonly answerBytes: number;
  /** Of DynamoDB alone, whose units depend on what was written and read: the bodies, parsed. */
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly answered?: Readonly<Record<string, unknown>>;
};

/** One invocation of a function, as its own process saw it. */
export type Entry = {
  /** `start-task`: the name that the template gives the function for its logs. */
  readonly function: string;
  readonly requestId: string;
  /** The first one of a process is 1: it also sets up what later ones find there. */
  readonly ordinal: number;
  /** User and system time of the whole process from the event's arrival to the answer, in milliseconds. */
  readonly cpuMs: number;
  /** Of a process's first invocation: the CPU time until its event arrived, Node's start and the loading included. */
  readonly initCpuMs?: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
  /** Of the event: which route of the API, or who else asked. */
  readonly routeKey?: string;
  readonly trigger?: string;
  /** Of the event, where it came over the API: its body's bytes, billed in steps of 512 KB. */
  readonly bodyBytes: number;
  readonly calls: readonly Call[];
};
