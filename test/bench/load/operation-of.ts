/** How a request of the AWS SDK leaves for the network. Header names in any case. */
export type OutgoingRequest = {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
};

/** The first part of `x-amz-target`, up to its dot, where that is not how the service is known. */
const services: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'DynamoDB',
  AWSStepFunctions: 'StepFunctions',
  TrentService: 'KMS',
  secretsmanager: 'SecretsManager',
};

const headerOf = ({ headers = {} }: OutgoingRequest, wanted: string): string => {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted);
  return String(found?.[1] ?? '');
};

/**
 * Which service is asked for what, `DynamoDB UpdateItem`; undefined where the request is none to AWS. S3 alone names
 * its operation by the method, `S3 PUT`.
 */
export const operationOf = (request: OutgoingRequest): string | undefined => {
  const [service, operation] = headerOf(request, 'x-amz-target').split('.');
  if (service !== undefined && operation !== undefined) return `${services[service] ?? service} ${operation}`;
  return headerOf(request, 'authorization').startsWith('AWS4-') ? `S3 ${request.method}` : undefined;
};
