import { parseArgs } from 'node:util';
import { ExpectedFailure } from './expected-failure.ts';

export type Options = {
  /** End after the first extraction. */
  once: boolean;
  /** Of the emulator; any free one where it is left out. */
  port?: number;
};

export const usage = `Usage: npm start [-- --once] [-- --port <number>]

  --once         end after the first extraction: with 0 if it was settled and collected
  --port <n>     serve the AWS emulator on this port instead of any free one

With AWS_ENDPOINT_URL set, the emulator that it names is used and none is started.`;

/** @throws ExpectedFailure with the sentence and the usage */
export function readOptions(args: string[]): Options | 'help' {
  const { values } = parse(args);
  if (values.help) return 'help';
  const once = values.once ?? false;
  if (values.port === undefined) return { once };
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ExpectedFailure(`--port wants a number from 1 to 65535, not "${values.port}".\n\n${usage}`);
  }
  return { once, port };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { once: { type: 'boolean' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ExpectedFailure(`${problem}.\n\n${usage}`, { cause: error });
  }
}
