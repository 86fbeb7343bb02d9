import { parseArgs } from 'node:util';
import { DEFAULT_CLIENT_ID, type SandboxOptions } from './sandbox.ts';

export const USAGE = `Usage: npm run sandbox -- [options]

  --port <n>              default 4010; 0 takes any free port
  --host <host>           a further host at which it is reached, such as sandbox.example:4010
  --webhook-url <url>     where the webhook of finished tasks is sent
  --signing-key <key>     signs (and encrypts) the webhook; default sandbox-signing-key
  --mode <plain|encrypted>  of the webhook; default plain
  --no-webhooks           never send the webhook, as the provider's own sandbox
  --task-duration-ms <n>  how long a task takes; default 1500
  --help`;

/** The flags are invalid. The message is for the user. */
export class InvalidFlags extends Error {
  override readonly name = 'InvalidFlags';
}

/** The options for `startSandbox`, or `help`. @throws InvalidFlags */
export const parseFlags = (args: readonly string[]): SandboxOptions | 'help' => {
  const flags = readFlags(args);
  if (flags.help === true) return 'help';
  const mode = flags.mode ?? 'plain';
  if (mode !== 'plain' && mode !== 'encrypted') {
    throw new InvalidFlags('--mode must be plain or encrypted.');
  }
  const url = flags['webhook-url'];
  if (url !== undefined && !URL.canParse(url)) throw new InvalidFlags('--webhook-url must be a URL.');
  return {
    port: wholeNumber('--port', flags.port ?? '4010', 65_535),
    webhooks: flags['no-webhooks'] !== true,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    taskDurationMs: wholeNumber('--task-duration-ms', flags['task-duration-ms'] ?? '1500'),
    clients: [
      {
        clientId: DEFAULT_CLIENT_ID,
        apiKey: 'sandbox-api-key',
        webhook: {
          ...(url === undefined ? {} : { url }),
          signingKey: flags['signing-key'] ?? 'sandbox-signing-key',
          mode,
        },
      },
    ],
  };
};

const readFlags = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'webhook-url': { type: 'string' },
        'signing-key': { type: 'string' },
        mode: { type: 'string' },
        'no-webhooks': { type: 'boolean' },
        'task-duration-ms': { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (cause) {
    throw new InvalidFlags(cause instanceof Error ? cause.message : 'Unknown options.', { cause });
  }
};

const wholeNumber = (flag: string, text: string, highest = Number.MAX_SAFE_INTEGER): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > highest) {
    throw new InvalidFlags(`${flag} must be a whole number from 0 to ${highest}.`);
  }
  return value;
};
