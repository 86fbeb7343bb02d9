type Violation = { readonly pointer?: unknown; readonly detail?: unknown };
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

const violationsOf = ({ errors }: ProblemBody): readonly Violation[] => (Array.isArray(errors) ? errors : []);

/** An error answer of the API as lines: a sentence, then one for each violation. No answer has a value of the request. */
export const describeProblem = (status: number, body: string): readonly string[] => {
  const problem = parse(body);
  if (problem.title === undefined) {
    const message = typeof problem.message === 'string' ? problem.message : 'no reason given';
    const hint = status === 403 ? ' These credentials need execute-api:Invoke on this route.' : '';
    return [`API Gateway answered ${status}: ${message}.${hint}`];
  }
  const lines = violationsOf(problem).map(
    ({ pointer, detail }) => `  ${pointer === '' ? 'the body' : String(pointer)} ${String(detail)}`,
  );
  const detail = typeof problem.detail === 'string' ? ` ${problem.detail}` : '';
  return [`The service answered ${status}: ${String(problem.title)}${detail}`, ...lines];
};
