import { defined } from '../defined.ts';

/** The part of an error that may be logged. */
type ErrorDescription = {
  readonly name: string;
  readonly code?: string;
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly frames: readonly string[];
  readonly cause?: ErrorDescription;
};

/**
 * Whether AWS refused a call because of a KMS key: its state, or its permissions. KMS, and the services that use it, mention the key or the
 * action in the name or the message. Only Secrets Manager's DecryptionFailure does not. Throttling and KMS's own failures do not count,
 * because they pass by themselves.
 */
export const isKeyFailure = (error: unknown, depth = 0): boolean => {
  if (!(error instanceof Error)) return false;
  const isAboutKey =
    '$metadata' in error && /kms|\bDecryptionFailure\b/i.test(`${error.name} ${error.message}`);
  if (isAboutKey && !/Throttl|Internal|Timeout/.test(error.name)) return true;
  return depth < 3 && isKeyFailure(error.cause, depth + 1);
};

const text = (of: unknown): string | undefined => (typeof of === 'string' ? of : undefined);
const number = (of: unknown): number | undefined => (typeof of === 'number' ? of : undefined);

/** The last frames of a stack. A line of the message can resemble a frame, so the message is removed first. */
const framesOf = ({ stack = '', message }: Error): string[] => {
  const at = stack.indexOf(message);
  const lines = stack.slice(at === -1 ? 0 : at + message.length).split('\n');
  const lastOther = lines.findLastIndex((line) => !/^\s+at /.test(line));
  return lines
    .slice(lastOther + 1)
    .map((line) => line.trim())
    .slice(0, 8);
};

/**
 * Describes an error without its message. Messages quote their input: JSON.parse quotes the body, and AWS validation
 * errors quote a parameter, which may be a token or a credential. Names, codes, request ids and stack frames are
 * enough to investigate and contain no values.
 */
export const describeError = (error: unknown, depth = 0): ErrorDescription => {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] };
  const { code, $metadata } = error as { code?: unknown; $metadata?: Record<string, unknown> };
  return defined({
    name: error.name,
    code: text(code),
    httpStatus: number($metadata?.httpStatusCode),
    awsRequestId: text($metadata?.requestId),
    frames: framesOf(error),
    // The limit is more than any chain of causes needs. An error can be its own cause.
    cause: error.cause === undefined || depth >= 3 ? undefined : describeError(error.cause, depth + 1),
  });
};
