/** One rule that a request breaks: `pointer` is a JSON pointer (RFC 6901) into its body, and empty for the whole. */
export type Violation = { readonly pointer: string; readonly detail: string };
type ProblemBody = {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly errors?: unknown;
  /** API Gateway's own answers have only this. */
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

/** The violations of an error answer. None, unless it is a problem that has some. */
export const violationsIn = (body: string): readonly Violation[] => {
  const { errors } = parse(body);
  if (!Array.isArray(errors)) return [];
  return errors.map(({ pointer, detail }) => ({ pointer: String(pointer), detail: String(detail) }));
};

/** An error answer of the API as lines: a sentence, then one for each violation. No answer has a value of the request. */
export const describeProblem = (status: number, body: string): readonly string[] => {
  const problem = parse(body);
  if (problem.title === undefined) {
    const message = typeof problem.message === 'string' ? problem.message : 'no reason given';
    const hint = status === 403 ? ' These credentials need execute-api:Invoke on this route.' : '';
    return [`API Gateway answered ${status}: ${message}.${hint}`];
  }
  const lines = violationsIn(body).map(
    ({ pointer, detail }) => `  ${pointer === '' ? 'the body' : pointer} ${detail}`,
  );
  const detail = typeof problem.detail === 'string' ? ` ${problem.detail}` : '';
  return [`The service answered ${status}: ${String(problem.title)}${detail}`, ...lines];
};
