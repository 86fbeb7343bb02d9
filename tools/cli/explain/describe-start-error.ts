import { isProblem } from '../../../lib/extraction/advice.ts';
import { isWhy, whys } from '../../../lib/extraction/plan.ts';
import { describeCode } from '../terminal/extraction-failures.ts';

/** What a try to start failed with. `problem`: the cause that start-task reported, if it is one of the public codes. */
export type StartError = { readonly error: string; readonly problem?: string | undefined };

/** As a clause. Undefined for an error that start-task does not report by name, such as those of Lambda. */
export const knownStartError = ({ error, problem }: StartError): string | undefined => {
  if (!isWhy(error)) return undefined;
  return isProblem(problem) ? describeCode(problem) : whys[error];
};

export const describeStartError = (of: StartError): string =>
  knownStartError(of) ?? `start-task failed with ${of.error}`;
