/** What of an error may be logged. */
export type ErrorDescription = {
  readonly name: string;
  readonly code?: string;
  readonly httpStatus?: number;
  readonly awsRequestId?: string;
  readonly frames: readonly string[];
  readonly cause?: ErrorDescription;
};

const text = (of: unknown): string | undefined => (typeof of === 'string' ? of : undefined);
const number = (of: unknown): number | undefined => (typeof of === 'number' ? of : undefined);

/** The frames that end a stack. Lines of the message may look like frames, so that is cut off first. */
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
 * Tells an error without its message. Messages quote what they were about: JSON.parse quotes the body it
 * stumbled over, AWS's validation errors quote the parameter, which may be a token or a credential. Names,
 * codes, request ids and stack frames say where to look, and can say nothing else.
 */
export const describeError = (error: unknown, depth = 0): ErrorDescription => {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] };
  const { code, $metadata } = error as { code?: unknown; $metadata?: Record<string, unknown> };
  const known = {
    code: text(code),
    httpStatus: number($metadata?.httpStatusCode),
    awsRequestId: text($metadata?.requestId),
  };
  return {
    name: error.name,
    ...(known.code === undefined ? {} : { code: known.code }),
    ...(known.httpStatus === undefined ? {} : { httpStatus: known.httpStatus }),
    ...(known.awsRequestId === undefined ? {} : { awsRequestId: known.awsRequestId }),
    frames: framesOf(error),
    // Four levels are deeper than any chain of ours, and an error may be its own cause.
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
};
