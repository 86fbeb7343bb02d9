import type { Call } from './entry.ts';

/** Display names by the names that AWS signs for. */
const services: Readonly<Record<string, string>> = {
  events: 'EventBridge',
  kms: 'KMS',
  s3: 'S3',
  secretsmanager: 'Secrets Manager',
  sqs: 'SQS',
  states: 'Step Functions',
};

/**
 * The name of a call: `KMS Decrypt`, `Extractions UpdateItem`, or `due Query` for an index. The keys of `tables` are the
 * names in requests.
 */
export const nameOfCall = (
  { service, operation, asked }: Call,
  tables: ReadonlyMap<string, { readonly name: string }>,
): string => {
  const table = asked?.IndexName ?? tables.get(String(asked?.TableName))?.name;
  return `${table ?? services[service] ?? service} ${operation}`;
};
