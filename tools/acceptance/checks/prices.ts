/**
 * List prices of us-east-1 in US dollars, without free tiers, of the first tier if there are several.
 * AWS's pricing pages load most figures by script, so that not every copy has them.
 */
export const readOn = '2026-11-21';

type Price = { readonly unit: string; readonly perMillion: number };

/**
 * For a million units. Each names its page, and how the figure was checked on that day: `at AWS` on a copy of the page,
 * `quoted` on another page that quotes it, `unseen` where no page with it was found.
 */
export const prices = {
  /** https://aws.amazon.com/step-functions/pricing/, at AWS */
  transition: { unit: 'state transition, retries included ($0.025 per 1,000)', perMillion: 25 },
  /** https://aws.amazon.com/lambda/pricing/, quoted */
  invocation: { unit: 'request', perMillion: 0.2 },
  /** https://aws.amazon.com/lambda/pricing/, quoted */
  armGigabyteSecond: { unit: 'GB-second, arm64', perMillion: 13.3334 },
  /** https://aws.amazon.com/api-gateway/pricing/, at AWS */
  httpRequest: { unit: 'request to an HTTP API, of up to 512 KB', perMillion: 1 },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/, quoted */
  writeUnit: { unit: 'write request unit, on demand', perMillion: 0.625 },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/, quoted */
  readUnit: { unit: 'read request unit, on demand', perMillion: 0.125 },
  /** https://aws.amazon.com/kms/pricing/, quoted */
  keyRequest: { unit: 'symmetric request ($0.03 per 10,000)', perMillion: 3 },
  /** https://aws.amazon.com/s3/pricing/, quoted */
  put: { unit: 'PUT ($0.005 per 1,000)', perMillion: 5 },
  /** https://aws.amazon.com/s3/pricing/, unseen */
  get: { unit: 'GET ($0.0004 per 1,000)', perMillion: 0.4 },
  /** https://aws.amazon.com/secrets-manager/pricing/, unseen */
  secretRead: { unit: 'API call ($0.05 per 10,000)', perMillion: 5 },
  /** https://aws.amazon.com/sqs/pricing/, unseen */
  queueRequest: { unit: 'request, standard queue', perMillion: 0.4 },
  /** Those of AWS services, schedules and rules cost nothing. https://aws.amazon.com/eventbridge/pricing/, unseen */
  busEvent: { unit: 'custom event', perMillion: 1 },
  /** Standard class, of Lambda and vended. https://aws.amazon.com/cloudwatch/pricing/, quoted */
  logKilobyte: { unit: 'KB ($0.50 per GB)', perMillion: 0.5 },
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/, unseen */
  tableGigabyteMonth: { unit: 'GB-month in a table, $0.25', perMillion: 250_000 },
  /** Point-in-time recovery. https://aws.amazon.com/dynamodb/pricing/on-demand/, unseen */
  backupGigabyteMonth: { unit: 'GB-month of backup, $0.20', perMillion: 200_000 },
  /** https://aws.amazon.com/s3/pricing/, unseen */
  bucketGigabyteMonth: { unit: 'GB-month in S3, $0.023', perMillion: 23_000 },
  /** https://aws.amazon.com/cloudwatch/pricing/, unseen */
  logGigabyteMonth: { unit: 'GB-month of logs, $0.03', perMillion: 30_000 },
  /** https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer, unseen */
  egressGigabyte: { unit: 'GB to the internet, $0.09', perMillion: 90_000 },
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof prices;
