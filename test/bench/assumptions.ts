/**
 * What neither the run nor the template can tell: all of it, in one place, and printed with the result.
 */

/** How long the task takes: naive polling and the polls by consent depend on it, the happy path does not. */
export const taskSeconds = 60;

/** A task that outlasts the wait for its webhook, so that the machine polls for it. */
export const longTaskSeconds = 20 * 60;

/** From the provider's being called to the end of its answer, the connection included, in milliseconds. */
export const providerAnswerMs = 400;

/** The same of an AWS service over a connection that stands: DynamoDB answers in less, S3 and KMS may take more. */
export const awsAnswerMs = 10;

/**
 * A vCPU of Lambda's arm64 does in a second what a core of the machine that this runs on does in so many. 1: nobody
 * has compared them. CPU is about a sixth of what is billed for duration.
 */
export const cpuRatio = 1;

/**
 * The share of invocations that start a new process: "INITs (cold starts) typically occur in under 1% of invocations"
 * (https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase/), which also says that they are
 * billed since August 2025. A function that is called once in a quarter of an hour has nothing but cold starts.
 */
export const coldStartShare = 0.01;

/**
 * How long a task token of Step Functions is, in characters: the emulator's are shorter. The service says 2,048 at
 * most (https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html); those seen in
 * examples have some 700.
 */
export const taskTokenCharacters = 700;

/** What AWS puts where the emulator puts something shorter or longer: a caller, an address, ids. */
export const samples = {
  callerArn: 'arn:aws:sts::123456789012:assumed-role/orders-service/i-0123456789abcdef0',
  /** The same without its session: what a record keeps. */
  requestedBy: 'arn:aws:sts::123456789012:assumed-role/orders-service',
  sourceIp: '198.51.100.123',
  apiRequestId: 'JKJaXmPLvHcESHA=',
  executionArn:
    'arn:aws:states:us-east-1:123456789012:execution:Cosecha-prod-extractions:01a1fe07-9745-75b1-b891-0d0d5703db17',
};

/** In which a process of the webhook that is always busy reads its signing keys again, in minutes. */
export const signingKeyMinutes = 5;
