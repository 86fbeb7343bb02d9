import { CliError } from '../../cli/terminal/errors.ts';

/** What a check expected did not hold. The message is the `why` of its failure. */
export class Unmet extends CliError {
  override readonly name = 'Unmet';
}
