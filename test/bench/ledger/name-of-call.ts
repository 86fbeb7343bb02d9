import type { Call } from './entry.ts';

/** As AWS signs for it, and as it is known. */
const services: Readonly<Record<string, string>> = {
  events: 'EventBridge',
  kms: 'KMS',
  s3: 'S3',
  secretsmanager: 'Secrets Manager',
  sqs: 'SQS',
  states: 'Step Functions',
};

/**
 * Who is asked for what: `KMS Decrypt`, `Extractions UpdateItem`, `due Query` where an index is asked. `tables` are
 * by the names that requests call them.
 */
export const nameOfCall = (
  { service, operation, asked }: Call,
  tables: ReadonlyMap<string, { readonly name: string }>,
): string => {
  const table = asked?.IndexName ?? tables.get(String(asked?.TableName))?.name;
  return `${table ?? services[service] ?? service} ${operation}`;
};
