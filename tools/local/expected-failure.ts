import { CliError } from '../cli/terminal/errors.ts';

/** A problem of this machine, such as a missing Python, a port in use or a failed deployment, or an unexpected end of the demo. */
export class ExpectedFailure extends CliError {
  override readonly name = 'ExpectedFailure';
}
