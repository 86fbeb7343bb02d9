/**
 * Where a price was seen. `page`: on a copy of AWS's page. `list`: in a copy of AWS's price list of us-east-1, such as
 * https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonS3/current/us-east-1/index.json. `quoted`: only on pages that quote it, or
 * for another region.
 */
type Seen = 'page' | 'list' | 'quoted';

type Price = {
  readonly unit: string;
  readonly perMillion: number;
  readonly seen: Seen;
  /** When it was read, and found to be this. */
  readonly on: string;
};

/**
 * List prices of us-east-1 in US dollars, without free tiers, of the first tier if there are several, for a million units. AWS's pages load
 * most figures by script, so that not every copy has them.
 */
export const prices = {
  /** https://aws.amazon.com/step-functions/pricing/ */
  transition: {
    unit: 'state transition, retries included ($0.025 per 1,000)',
    perMillion: 25,
    seen: 'page',
    on: '2026-11-21',
  },
  /** https://aws.amazon.com/lambda/pricing/; AWSLambda of 2026-09-11 */
  invocation: { unit: 'request', perMillion: 0.2, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/lambda/pricing/; AWSLambda of 2026-09-11 */
  armGigabyteSecond: { unit: 'GB-second, arm64', perMillion: 13.3334, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/api-gateway/pricing/; AmazonApiGateway of 2026-09-11 */
  httpRequest: {
    unit: 'request to an HTTP API, of up to 512 KB',
    perMillion: 1,
    seen: 'list',
    on: '2026-11-28',
  },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/; AmazonDynamoDB of 2026-09-11 */
  writeUnit: { unit: 'write request unit, on demand', perMillion: 0.625, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/; AmazonDynamoDB of 2026-09-11 */
  readUnit: { unit: 'read request unit, on demand', perMillion: 0.125, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/kms/pricing/; awskms of 2026-08-31 */
  keyRequest: { unit: 'symmetric request ($0.03 per 10,000)', perMillion: 3, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/s3/pricing/; AmazonS3 */
  put: { unit: 'PUT ($0.005 per 1,000)', perMillion: 5, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/s3/pricing/; AmazonS3 */
  get: { unit: 'GET ($0.0004 per 1,000)', perMillion: 0.4, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/secrets-manager/pricing/; AWSSecretsManager of 2026-09-11 */
  secretRead: { unit: 'API call ($0.05 per 10,000)', perMillion: 5, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/sqs/pricing/; AWSQueueService of 2026-09-11 */
  queueRequest: { unit: 'request, standard queue', perMillion: 0.4, seen: 'list', on: '2026-11-28' },
  /** Those of AWS services, schedules and rules cost nothing. https://aws.amazon.com/eventbridge/pricing/ */
  busEvent: { unit: 'custom event', perMillion: 1, seen: 'quoted', on: '2026-11-28' },
  /** Standard class, of Lambda and vended. https://aws.amazon.com/cloudwatch/pricing/ */
  logKilobyte: { unit: 'KB ($0.50 per GB)', perMillion: 0.5, seen: 'quoted', on: '2026-11-21' },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/; seen on bills of us-west-2, which has the same prices */
  tableGigabyteMonth: {
    unit: 'GB-month in a table, $0.25',
    perMillion: 250_000,
    seen: 'quoted',
    on: '2026-11-28',
  },
  /** Point-in-time recovery. https://aws.amazon.com/dynamodb/pricing/on-demand/; seen in the price list of us-west-2 */
  backupGigabyteMonth: {
    unit: 'GB-month of backup, $0.20',
    perMillion: 200_000,
    seen: 'quoted',
    on: '2026-11-28',
  },
  /** https://aws.amazon.com/s3/pricing/; AmazonS3 */
  bucketGigabyteMonth: { unit: 'GB-month in S3, $0.023', perMillion: 23_000, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/cloudwatch/pricing/; AmazonCloudWatch, SKU JRHJQ2UMPUB5K73A */
  logGigabyteMonth: { unit: 'GB-month of logs, $0.03', perMillion: 30_000, seen: 'list', on: '2026-11-28' },
  /** https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer; AWSDataTransfer */
  egressGigabyte: { unit: 'GB to the internet, $0.09', perMillion: 90_000, seen: 'list', on: '2026-11-28' },
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof prices;

/** In a sentence: how many of the prices were seen at AWS, and which were not. */
export const describePrices = (): string => {
  const all = Object.entries(prices);
  const quoted = all.flatMap(([name, { seen }]) => (seen === 'quoted' ? name : []));
  return `${all.length - quoted.length} of ${all.length} prices were seen at AWS or in its price list; quoted: ${quoted.join(', ')}`;
};
