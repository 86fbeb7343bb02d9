import { Command, InvalidArgumentError } from 'commander';
import { parseOptions } from './parse-options.ts';

type Options = { readonly once?: true; readonly port?: number };

const port = (value: string): number => {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= 65_535) return number;
  throw new InvalidArgumentError('It must be a number from 1 to 65535.');
};

export const readStartOptions = (args: readonly string[]): Options | 'help' =>
  parseOptions(
    new Command('npm start --')
      .description(
        'Runs the whole service on this machine, shows each method, and serves until Ctrl-C. If AWS_ENDPOINT_URL is set, that emulator is used and none is started.',
      )
      .option('--once', 'stop after the demo; the exit code is 0 if every extraction ended as expected')
      .option('--port <n>', 'the port of the AWS emulator; without it, any free one', port),
    args,
  );
