/** One rule that a request breaks. `pointer` is a JSON pointer (RFC 6901) into its body, and empty for the whole body. */
export type Violation = { readonly pointer: string; readonly detail: string };

type ProblemBody = {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly errors?: unknown;
  /** The only field of API Gateway's own answers. */
  readonly message?: unknown;
};

const parse = (body: string): ProblemBody => {
  try {
    const json: unknown = JSON.parse(body);
    return typeof json === 'object' && json !== null ? json : {};
  } catch {
    return {};
  }
};

const violationsOf = ({ errors }: ProblemBody): readonly Violation[] => {
  if (!Array.isArray(errors)) return [];
  return errors.map(({ pointer, detail }) => ({ pointer: String(pointer), detail: String(detail) }));
};

/** SigV4 accepts a request for five minutes (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html). */
const signatureMinutes = 5;

const clock = "Set this machine's clock.";

/** What helps if API Gateway refused a signature, by its message. The message is often only `Forbidden`, whatever the cause. */
const refusals: readonly (readonly [message: RegExp, remedy: string])[] = [
  [/token.* expired/i, 'The credentials have expired. Log in again.'],
  [/token.* invalid/i, 'AWS does not know these credentials. Check the access key and the session token.'],
  [/signature expired|not yet current/i, clock],
  [/signature.* does not match/i, 'The secret access key is not that of the access key.'],
];

const remedyOf403 = (message: string, minutesOff: number): string => {
  const known = refusals.find(([form]) => form.test(message));
  if (known !== undefined) return known[1];
  if (Math.abs(minutesOff) >= signatureMinutes) {
    const side = minutesOff > 0 ? 'ahead of' : 'behind';
    return `The clock of this machine is ${Math.abs(minutesOff)} min ${side} that of AWS. ${clock}`;
  }
  return 'These credentials need execute-api:Invoke on this route, and must not have expired.';
};

/** A sentence, and one line for each violation. No answer contains a value of the request. */
const describe = (status: number, problem: ProblemBody, minutesOff: number): readonly string[] => {
  if (problem.title === undefined) {
    const message =
      typeof problem.message === 'string' ? problem.message.replace(/\.$/, '') : 'no reason given';
    const hint = status === 403 ? ` ${remedyOf403(message, minutesOff)}` : '';
    return [`API Gateway answered ${status}: ${message}.${hint}`];
  }
  const lines = violationsOf(problem).map(
    ({ pointer, detail }) => `  ${pointer === '' ? 'the body' : pointer} ${detail}`,
  );
  const detail = typeof problem.detail === 'string' ? ` ${problem.detail}` : '';
  return [`The service answered ${status}: ${String(problem.title)}${detail}`, ...lines];
};

/**
 * The API answered with an error. `problem` is the `type` of its problem+json, such as `urn:cosecha:problem:idempotency-key-reused`. It is
 * absent if API Gateway itself answered.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly problem: string | undefined;
  /** A sentence, then a line for each violation. */
  readonly lines: readonly string[];
  /** The violations that the answer names. */
  readonly violations: readonly Violation[];

  /** `minutesOff` is how far the clock of this machine is ahead of API Gateway's clock, if known. */
  constructor(status: number, body: string, minutesOff = 0) {
    const problem = parse(body);
    const lines = describe(status, problem, minutesOff);
    super(lines.join('\n'));
    this.status = status;
    this.problem = typeof problem.type === 'string' ? problem.type : undefined;
    this.lines = lines;
    this.violations = violationsOf(problem);
  }

  /** Whether the same call may succeed later. */
  get isTransient(): boolean {
    return isTransientStatus(this.status);
  }
}

/** No answer came. The API may have received the request, so repeat it only under the same idempotency key. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';

  constructor(url: string, options: { readonly cause: unknown }) {
    super(`${url} did not answer.`, options);
  }
}

/** 5xx and API Gateway's 429. Not 501, which means that a setting is missing. */
export const isTransientStatus = (status: number): boolean =>
  (status >= 500 && status !== 501) || status === 429;
