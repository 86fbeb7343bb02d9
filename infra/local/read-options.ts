import { parseArgs } from 'node:util';
import { ExpectedFailure } from './expected-failure.ts';

/** How the user's data is reached. */
const methods = ['credentials', 'consent'] as const;
export type Method = (typeof methods)[number];

export type Options = {
  /** What is shown, in this order. */
  methods: readonly Method[];
  /** End when it has been shown. */
  once: boolean;
  /** Of the emulator; any free one where it is left out. */
  port?: number;
};

export const usage = `Usage: npm start [-- --once] [-- --method credentials|consent] [-- --port <number>]

  --once         end after the demonstration: with 0 if everything was settled and collected
  --method <m>   show one method only: an extraction with credentials, or a consent and what it allows
  --port <n>     serve the AWS emulator on this port instead of any free one

With AWS_ENDPOINT_URL set, the emulator that it names is used and none is started.`;

/** @throws ExpectedFailure with the sentence and the usage */
export const readOptions = (args: string[]): Options | 'help' => {
  const { values } = parse(args);
  if (values.help) return 'help';
  const shown = { methods: methodsOf(values.method), once: values.once ?? false };
  if (values.port === undefined) return shown;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ExpectedFailure(`--port wants a number from 1 to 65535, not "${values.port}".\n\n${usage}`);
  }
  return { ...shown, port };
};

const methodsOf = (given: string | undefined): readonly Method[] => {
  if (given === undefined) return methods;
  const method = methods.find((one) => one === given);
  if (method !== undefined) return [method];
  throw new ExpectedFailure(`--method wants ${methods.join(' or ')}, not "${given}".\n\n${usage}`);
};

const parse = (args: string[]) => {
  try {
    return parseArgs({
      args,
      options: {
        once: { type: 'boolean' },
        method: { type: 'string' },
        port: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ExpectedFailure(`${problem}.\n\n${usage}`, { cause: error });
  }
};
