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

export const problemTypeIn = (body: string): string | undefined => {
  const { type } = parse(body);
  return typeof type === 'string' ? type : undefined;
};

/** The violations that an error answer names. */
export const violationsIn = (body: string): readonly Violation[] => {
  const { errors } = parse(body);
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

/**
 * Describes an error answer of the API in lines: a sentence, and one line for each violation. No answer contains a value of the request.
 * `minutesOff` is how far the clock of this machine is ahead of API Gateway's clock, if known.
 */
export const describeProblem = (status: number, body: string, minutesOff = 0): readonly string[] => {
  const problem = parse(body);
  if (problem.title === undefined) {
    const message =
      typeof problem.message === 'string' ? problem.message.replace(/\.$/, '') : 'no reason given';
    const hint = status === 403 ? ` ${remedyOf403(message, minutesOff)}` : '';
    return [`API Gateway answered ${status}: ${message}.${hint}`];
  }
  const lines = violationsIn(body).map(
    ({ pointer, detail }) => `  ${pointer === '' ? 'the body' : pointer} ${detail}`,
  );
  const detail = typeof problem.detail === 'string' ? ` ${problem.detail}` : '';
  return [`The service answered ${status}: ${String(problem.title)}${detail}`, ...lines];
};
