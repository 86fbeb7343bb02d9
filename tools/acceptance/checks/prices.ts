/**
 * List prices of us-east-1 in US dollars, without free tiers, of the first tier if there are several.
 * AWS's pricing pages load most figures by script, so that not every copy has them.
 */
export const readOn = '2026-11-21';

/**
 * How the figure was checked on that day: on a copy of an AWS page, on another page that quotes it, or not at all because
 * no page with it was found.
 */
type Seen = 'at AWS' | 'quoted' | 'unseen';

export type Price = {
  readonly service: string;
  readonly unit: string;
  /** For a million units. */
  readonly perMillion: number;
  readonly page: string;
  readonly seen: Seen;
};

const dynamo = 'https://aws.amazon.com/dynamodb/pricing/on-demand/';
const lambda = 'https://aws.amazon.com/lambda/pricing/';
const s3 = 'https://aws.amazon.com/s3/pricing/';

export const prices = {
  transition: {
    service: 'Step Functions',
    unit: 'state transition, retries included ($0.025 per 1,000)',
    perMillion: 25,
    page: 'https://aws.amazon.com/step-functions/pricing/',
    seen: 'at AWS',
  },
  invocation: { service: 'Lambda', unit: 'request', perMillion: 0.2, page: lambda, seen: 'quoted' },
  armGigabyteSecond: {
    service: 'Lambda',
    unit: 'GB-second, arm64',
    perMillion: 13.3334,
    page: lambda,
    seen: 'quoted',
  },
  httpRequest: {
    service: 'API Gateway',
    unit: 'request to an HTTP API, of up to 512 KB',
    perMillion: 1,
    page: 'https://aws.amazon.com/api-gateway/pricing/',
    seen: 'at AWS',
  },
  writeUnit: {
    service: 'DynamoDB',
    unit: 'write request unit, on demand',
    perMillion: 0.625,
    page: dynamo,
    seen: 'quoted',
  },
  readUnit: {
    service: 'DynamoDB',
    unit: 'read request unit, on demand',
    perMillion: 0.125,
    page: dynamo,
    seen: 'quoted',
  },
  keyRequest: {
    service: 'KMS',
    unit: 'symmetric request ($0.03 per 10,000)',
    perMillion: 3,
    page: 'https://aws.amazon.com/kms/pricing/',
    seen: 'quoted',
  },
  put: { service: 'S3', unit: 'PUT ($0.005 per 1,000)', perMillion: 5, page: s3, seen: 'quoted' },
  get: { service: 'S3', unit: 'GET ($0.0004 per 1,000)', perMillion: 0.4, page: s3, seen: 'unseen' },
  secretRead: {
    service: 'Secrets Manager',
    unit: 'API call ($0.05 per 10,000)',
    perMillion: 5,
    page: 'https://aws.amazon.com/secrets-manager/pricing/',
    seen: 'unseen',
  },
  queueRequest: {
    service: 'SQS',
    unit: 'request, standard queue',
    perMillion: 0.4,
    page: 'https://aws.amazon.com/sqs/pricing/',
    seen: 'unseen',
  },
  busEvent: {
    service: 'EventBridge',
    unit: 'custom event; those of AWS services, schedules and rules cost nothing',
    perMillion: 1,
    page: 'https://aws.amazon.com/eventbridge/pricing/',
    seen: 'unseen',
  },
  logKilobyte: {
    service: 'CloudWatch Logs',
    unit: 'KB, Standard class, of Lambda and vended ($0.50 per GB)',
    perMillion: 0.5,
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'quoted',
  },
  matchedEvent: {
    service: 'CloudWatch Logs',
    unit: 'log event that matches a rule of Contributor Insights',
    perMillion: 0.02,
    page: 'https://aws.amazon.com/cloudwatch/pricing/',
    seen: 'unseen',
  },
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof prices;
