import { parseArgs } from 'node:util';
import { ExpectedFailure } from './expected-failure.ts';

/** The two methods of an extraction. */
const methods = ['credentials', 'consent'] as const;
export type Method = (typeof methods)[number];

export type Options = {
  /** What the demo shows, in this order. */
  methods: readonly Method[];
  /** Whether to stop after the demo. */
  once: boolean;
  /** The port of the emulator. Any free one if omitted. */
  port?: number;
};

export const usage = `Usage: npm start [-- --once] [-- --method credentials|consent] [-- --port <number>]

  --once         stop after the demo; the exit code is 0 if every extraction had the expected outcome
  --method <m>   show only one method: an extraction with credentials, or one by consent
  --port <n>     the port of the AWS emulator (default: any free port)

If AWS_ENDPOINT_URL is set, that emulator is used and none is started.`;

/** @throws ExpectedFailure with the problem and the usage */
export const readOptions = (args: string[]): Options | 'help' => {
  const { values } = parse(args);
  if (values.help) return 'help';
  const options = { methods: methodsOf(values.method), once: values.once ?? false };
  if (values.port === undefined) return options;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ExpectedFailure(`--port must be a number from 1 to 65535, not "${values.port}".\n\n${usage}`);
  }
  return { ...options, port };
};

const methodsOf = (value: string | undefined): readonly Method[] => {
  if (value === undefined) return methods;
  const method = methods.find((one) => one === value);
  if (method !== undefined) return [method];
  throw new ExpectedFailure(`--method must be ${methods.join(' or ')}, not "${value}".\n\n${usage}`);
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
