import { CommanderError } from 'commander';
import { consentPageLine, curlLines } from './curl-lines.ts';
import { outcomesAsText } from './outcome-table.ts';
import { parseFlags } from './parse-flags.ts';
import { DEFAULT_WIDGET_CONFIG_ID } from './registered-client.ts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from './sandbox.ts';

/** `npm run sandbox`: runs the provider sandbox until Ctrl-C, and prints a line per call and delivery. */
const main = async (): Promise<void> => {
  const options = parseFlags(process.argv.slice(2));
  const sandbox = await startSandbox({ ...options, log: (line) => console.log(line) });
  console.log(greeting(sandbox, options));
  const stop = () => void sandbox.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
};

const greeting = (sandbox: RunningSandbox, options: SandboxOptions): string => {
  const { baseUrl, apiKey, clientId, controlUrl } = sandbox;
  return [
    'Provider sandbox',
    `  base URL  ${baseUrl}`,
    `  API key   ${apiKey}`,
    `  client    ${clientId}, widget ${DEFAULT_WIDGET_CONFIG_ID}`,
    `  control   ${controlUrl} (docs/sandbox.md)`,
    `  webhook   ${webhookLine(options)}`,
    '',
    'Outcomes by credentials. Any other pair completes, with any password:',
    '',
    outcomesAsText(),
    '',
    'Try it:',
    '',
    ...curlLines(baseUrl, apiKey),
    '',
    'To authorize a consent, open the URL that this prints in a browser:',
    '',
    consentPageLine(baseUrl, sandbox),
    '',
  ].join('\n');
};

const webhookLine = ({ webhooks, clients }: SandboxOptions): string => {
  const webhook = clients?.[0].webhook;
  if (webhooks === false) return 'never sent (--no-webhooks)';
  if (webhook?.url === undefined) return 'no URL (--webhook-url)';
  return `${webhook.mode} to ${webhook.url}`;
};

const messageFor = (error: unknown, port: number | undefined): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Free it, or choose another with --port.`;
  if (code === 'EACCES') return `This user may not use port ${port}. Choose another with --port.`;
  throw error;
};

main().catch((error: unknown) => {
  // It has printed the help, or what is wrong.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  const port = error instanceof Error && 'port' in error ? Number(error.port) : undefined;
  console.error(messageFor(error, port));
  process.exitCode = 1;
});
