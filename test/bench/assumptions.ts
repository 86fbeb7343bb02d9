/**
 * Everything that neither the run nor the template shows. It is printed with the result.
 */

/** The duration of a task. The polls by consent depend on it, the happy path does not. */
export const taskSeconds = 60;

/** The duration of a task that outlasts the wait for its webhook, so that the machine polls. */
export const longTaskSeconds = 20 * 60;

/** From the call of the provider to the end of its answer, with the connection, in milliseconds. */
export const providerAnswerMs = 400;

/** The latency of an AWS service over an open connection, in milliseconds. DynamoDB is faster, S3 and KMS may be slower. */
export const awsAnswerMs = 10;

/**
 * How many seconds a core of this machine takes for a second of a vCPU of Lambda's arm64. 1: they have not been compared.
 * CPU is about a sixth of the billed duration.
 */
export const cpuRatio = 1;

/**
 * The share of invocations that start a new process: "INITs (cold starts) typically occur in under 1% of invocations"
 * (https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase/), which also says that they are
 * billed since August 2025. A function that is called once in a quarter of an hour has nothing but cold starts.
 */
export const coldStartShare = 0.01;

/**
 * The length of a callback token in characters. The emulator's are shorter. The limit is 2,048
 * (https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html), and examples have about 700.
 */
export const taskTokenCharacters = 700;

/** The caller in the record, without its session: the emulator's is shorter. */
export const requestedBy = 'arn:aws:sts::123456789012:assumed-role/orders-service';

/**
 * Bytes that AWS logs and the emulator does not, by AWS's examples: the API for a request, in the format of
 * `infra/constructs/extraction-api.ts`; Step Functions for a task that failed or timed out, at the level ERROR and without data; and
 * Lambda for an error that a function throws, as each poll of the machine does.
 */
export const accessLogBytes = 330;
export const machineLogBytes = 293;
export const thrownErrorBytes = 170;

/** The results of an extraction, in bytes: two or three months of movements of one account. */
export const resultsBytes = 20_000;

/** What the API answers a caller, headers included, in bytes: 202 and one GET. */
export const callerBytes = 4_000;

/** What the functions send the provider, TLS and headers included, in bytes: a start and a read. */
export const providerBytes = 8_000;

/** The targets of the happy path and by consent, in dollars per million extractions: the sum, rounded up to the next ten. */
export const targetDollars = 120;
export const consentTargetDollars = 160;

/** The target of what `publishEvents` adds. */
export const busTargetDollars = 3;
