import type { Setting } from './function-environment.ts';

type ItemAction = 'BatchGetItem' | 'DeleteItem' | 'GetItem' | 'PutItem' | 'UpdateItem';
type ResultsAction = 'PutObject' | 'DeleteObject' | 'DeleteObjectVersion';
type QueueAction = 'DeleteMessage' | 'GetQueueAttributes' | 'ReceiveMessage' | 'SendMessage';

/**
 * What a function needs: its environment variables, and for each that names something at AWS, the actions on that. Environment
 * and permissions are made from it. A test compares it with the variables and the clients in the function's bundle.
 *
 * A write that returns an item, the old one or the new one, does not need GetItem: no write has dependent actions
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html).
 */
export type Contract = {
  readonly EXTRACTIONS_TABLE?: readonly (ItemAction | `Query ${'due' | 'reference' | 'batch'}`)[];
  readonly TASKS_TABLE?: readonly ItemAction[];
  readonly REQUESTS_TABLE?: readonly ItemAction[];
  readonly BREAKERS_TABLE?: readonly ItemAction[];
  /** `repeats/*`: only the items whose keys begin so. The others are the marks. */
  readonly REFUSALS_TABLE?: readonly (ItemAction | 'UpdateItem repeats/*')[];
  readonly START_LINE_TABLE?: readonly (ItemAction | 'Query line')[];
  readonly ERASURES_TABLE?: readonly (ItemAction | 'Query')[];
  readonly RESULTS_BUCKET?: readonly ResultsAction[];
  readonly RECONCILE_QUEUE_URL?: readonly QueueAction[];
  readonly SLOW_QUEUE_URL?: readonly QueueAction[];
  readonly ERASE_QUEUE_URL?: readonly QueueAction[];
  readonly EVENT_BUS?: readonly 'PutEvents'[];
  readonly DISPATCHER_NAME?: readonly 'InvokeFunction'[];
  readonly STATE_MACHINE_ARN?: readonly 'StartExecution'[];
  /** Allowed by the key's own policy. */
  readonly SEAL_KEY_ARN?: readonly ('Encrypt' | 'Decrypt' | 'Decrypt targets')[];
  readonly PROVIDER_API_KEY_SECRET?: readonly 'GetSecretValue'[];
  readonly WEBHOOK_SIGNING_KEY_SECRET?: readonly 'GetSecretValue'[];
  readonly FINGERPRINT_KEY_SECRET?: readonly 'GetSecretValue'[];
  /** No variable: the token itself names the execution that waits. */
  readonly callbackToken?: readonly ('SendTaskFailure' | 'SendTaskSuccess')[];
  /** No variable: the record names the object. A presigned URL acts with the role of the function. */
  readonly resultsLocation?: readonly 'GetObject'[];
  /** On the bucket of results, where the actions of RESULTS_BUCKET are on its objects. */
  readonly resultsList?: readonly 'ListBucketVersions'[];
  /** Variables that are settings. */
  readonly settings: readonly Setting[];
};

/** What a call to the provider needs. */
const provider = [
  'PROVIDER_BASE_URL',
  'PROVIDER_ENDPOINTS',
  'PROVIDER_TIMEOUTS',
  'TASK_TOKEN_MINUTES',
  'PROVIDER_CLIENT_ID',
] as const;

/** What Lambda needs to invoke a function with messages: AWSLambdaSQSQueueExecutionRole. */
const receiving = ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'] as const;

/** The functions; each is `functions/<name>.ts`. The settings `callersMayErase` and `publishEvents` add the last two. */
const definitions = {
  'request-extraction': {
    EXTRACTIONS_TABLE: ['PutItem'],
    REQUESTS_TABLE: ['DeleteItem', 'PutItem'],
    REFUSALS_TABLE: ['UpdateItem repeats/*'],
    STATE_MACHINE_ARN: ['StartExecution'],
    SEAL_KEY_ARN: ['Encrypt'],
    FINGERPRINT_KEY_SECRET: ['GetSecretValue'],
    settings: ['ACCEPTED_REQUESTS', 'TIMINGS', 'PROVIDER_CLIENT_ID', 'PROVIDER_SENDS_WEBHOOKS'],
  },
  'get-extraction': {
    EXTRACTIONS_TABLE: ['BatchGetItem', 'GetItem', 'Query batch', 'Query reference'],
    BREAKERS_TABLE: ['GetItem'],
    START_LINE_TABLE: ['Query line'],
    resultsLocation: ['GetObject'],
    settings: ['RATE', 'READERS', 'RESULTS_RETENTION_DAYS'],
  },
  'start-task': {
    EXTRACTIONS_TABLE: ['GetItem', 'UpdateItem'],
    TASKS_TABLE: ['GetItem', 'UpdateItem'],
    REQUESTS_TABLE: ['DeleteItem', 'GetItem', 'PutItem'],
    BREAKERS_TABLE: ['GetItem', 'PutItem', 'UpdateItem'],
    REFUSALS_TABLE: ['GetItem', 'PutItem'],
    START_LINE_TABLE: ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'],
    DISPATCHER_NAME: ['InvokeFunction'],
    FINGERPRINT_KEY_SECRET: ['GetSecretValue'],
    RECONCILE_QUEUE_URL: ['SendMessage'],
    SEAL_KEY_ARN: ['Decrypt'],
    PROVIDER_API_KEY_SECRET: ['GetSecretValue'],
    callbackToken: ['SendTaskFailure', 'SendTaskSuccess'],
    settings: [
      'TIMINGS',
      'BREAKER',
      'RATE',
      'ENCRYPT_RAW_CREDENTIALS',
      'REFUSED_CREDENTIALS_DAYS',
      'SESSION_MINUTES',
      ...provider,
    ],
  },
  'dispatch-starts': {
    BREAKERS_TABLE: ['GetItem', 'PutItem', 'UpdateItem'],
    START_LINE_TABLE: ['BatchGetItem', 'Query line', 'UpdateItem'],
    callbackToken: ['SendTaskSuccess'],
    settings: ['RATE'],
  },
  'receive-webhook': {
    EXTRACTIONS_TABLE: ['UpdateItem'],
    TASKS_TABLE: ['UpdateItem'],
    REFUSALS_TABLE: ['PutItem'],
    RECONCILE_QUEUE_URL: ['SendMessage'],
    WEBHOOK_SIGNING_KEY_SECRET: ['GetSecretValue'],
    callbackToken: ['SendTaskSuccess'],
    settings: ['TIMINGS', 'REFUSED_CREDENTIALS_DAYS', 'SIGNING_KEY_REFRESH_SECONDS'],
  },
  'reconcile-extraction': {
    EXTRACTIONS_TABLE: ['GetItem', 'UpdateItem'],
    TASKS_TABLE: ['GetItem', 'UpdateItem'],
    REQUESTS_TABLE: ['DeleteItem', 'GetItem', 'UpdateItem'],
    BREAKERS_TABLE: ['GetItem'],
    REFUSALS_TABLE: ['PutItem'],
    START_LINE_TABLE: ['DeleteItem', 'GetItem'],
    RESULTS_BUCKET: ['PutObject'],
    RECONCILE_QUEUE_URL: [...receiving, 'SendMessage'],
    SLOW_QUEUE_URL: [...receiving, 'SendMessage'],
    SEAL_KEY_ARN: ['Decrypt targets'],
    PROVIDER_API_KEY_SECRET: ['GetSecretValue'],
    callbackToken: ['SendTaskSuccess'],
    settings: ['TIMINGS', 'REFUSED_CREDENTIALS_DAYS', 'RESULTS_MAX_BYTES', 'SESSION_MINUTES', ...provider],
  },
  'sweep-extractions': {
    EXTRACTIONS_TABLE: ['Query due', 'UpdateItem'],
    RECONCILE_QUEUE_URL: ['SendMessage'],
    settings: [],
  },
  'erase-extractions': {
    EXTRACTIONS_TABLE: ['DeleteItem', 'GetItem', 'UpdateItem', 'Query reference'],
    TASKS_TABLE: ['GetItem', 'PutItem'],
    REQUESTS_TABLE: ['DeleteItem'],
    REFUSALS_TABLE: ['DeleteItem', 'GetItem', 'UpdateItem'],
    START_LINE_TABLE: ['DeleteItem', 'GetItem'],
    ERASURES_TABLE: ['GetItem', 'PutItem', 'UpdateItem'],
    // No other role deletes versions of objects.
    RESULTS_BUCKET: ['DeleteObject', 'DeleteObjectVersion'],
    resultsList: ['ListBucketVersions'],
    ERASE_QUEUE_URL: [...receiving, 'SendMessage'],
    callbackToken: ['SendTaskSuccess'],
    settings: ['TIMINGS'],
  },
  'manage-consents': {
    PROVIDER_API_KEY_SECRET: ['GetSecretValue'],
    settings: ['WIDGET_CONFIG_ID', ...provider],
  },
  // It asks for erasures, and has no right to delete.
  'manage-erasures': {
    EXTRACTIONS_TABLE: ['GetItem', 'Query reference'],
    ERASURES_TABLE: ['GetItem', 'PutItem', 'Query'],
    ERASE_QUEUE_URL: ['SendMessage'],
    // For the MAC of a caller and what it asks to erase.
    FINGERPRINT_KEY_SECRET: ['GetSecretValue'],
    settings: [],
  },
  'publish-events': {
    EVENT_BUS: ['PutEvents'],
    settings: ['EVENT_SOURCE'],
  },
} satisfies Readonly<Record<string, Contract>>;

export type FunctionName = keyof typeof definitions;

export const contracts: Readonly<Record<FunctionName, Contract>> = definitions;

export const functionNames = Object.keys(definitions) as readonly FunctionName[];

/** The directory of each function's code, with an `index.js` that exports `handler`. */
export type FunctionCode = Readonly<Record<FunctionName, string>>;
