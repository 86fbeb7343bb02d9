import { parseArgs } from 'node:util';
import { ExpectedFailure } from './expected-failure.ts';

export type Options = {
  /** Whether to stop after the demo. */
  once: boolean;
  /** The port of the emulator. Any free one if omitted. */
  port?: number;
};

export const usage = `Usage: npm start [-- --once] [-- --port <number>]

  --once         stop after the demo; the exit code is 0 if every extraction had the expected outcome
  --port <n>     the port of the AWS emulator (default: any free port)

If AWS_ENDPOINT_URL is set, that emulator is used and none is started.`;

/** @throws ExpectedFailure with the problem and the usage */
export const readOptions = (args: string[]): Options | 'help' => {
  const { help, once = false, port: text } = parse(args);
  if (help) return 'help';
  if (text === undefined) return { once };
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return { once, port };
  throw new ExpectedFailure(`--port must be a number from 1 to 65535, not "${text}".\n\n${usage}`);
};

const parse = (args: string[]) => {
  try {
    const { values } = parseArgs({
      args,
      options: {
        once: { type: 'boolean' },
        port: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ExpectedFailure(`${problem}.\n\n${usage}`, { cause: error });
  }
};
