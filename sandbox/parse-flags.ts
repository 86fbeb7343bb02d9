import { Command, InvalidArgumentError, Option } from 'commander';
import type { WebhookMode } from './plan-schemas.ts';
import { DEFAULT_CLIENT, type SandboxOptions } from './sandbox.ts';

type Flags = {
  readonly port: number;
  readonly host?: string;
  readonly webhookUrl?: string;
  readonly signingKey: string;
  readonly mode: WebhookMode;
  readonly webhooks: boolean;
  readonly taskDurationMs: number;
};

const wholeNumber =
  (highest = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= highest) return value;
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${highest}.`);
  };

const address = (text: string): string => {
  if (URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be a URL.');
};

/** The options for `startSandbox`. @throws CommanderError once it has printed what is wrong, or the help */
export const parseFlags = (args: readonly string[]): SandboxOptions => {
  const program = new Command('npm run sandbox --')
    .option('--port <n>', '0 takes any free port', wholeNumber(65_535), 4010)
    .option('--host <host>', 'a further host at which it is reached, such as sandbox.example:4010')
    .option('--webhook-url <url>', 'where the webhook of finished tasks is sent', address)
    .option('--signing-key <key>', 'signs (and encrypts) the webhook', 'sandbox-signing-key')
    .addOption(new Option('--mode <mode>', 'of the webhook').choices(['plain', 'encrypted']).default('plain'))
    .option('--no-webhooks', "never send the webhook, as the provider's own sandbox")
    .option('--task-duration-ms <n>', 'how long a task takes', wholeNumber(), 1500)
    .showHelpAfterError()
    .exitOverride()
    .parse(args, { from: 'user' });
  const { webhookUrl: url, signingKey, mode, ...settings } = program.opts<Flags>();
  const webhook = { ...(url === undefined ? {} : { url }), signingKey, mode };
  return { ...settings, clients: [{ ...DEFAULT_CLIENT, webhook }] };
};
