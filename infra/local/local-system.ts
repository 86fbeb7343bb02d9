import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_STAGE, stackNameOf } from '../../lib/aws/stage.ts';
import { emulatorApiUrl, toEmulatorUrl } from '../../lib/cli/aws/emulator-url.ts';
import { signedFetch } from '../../lib/cli/aws/signed-fetch.ts';
import { DEFAULT_WIDGET_CONFIG_ID } from '../../test/sandbox/client.ts';
import { type SandboxControl, sandboxControl } from '../../test/sandbox/control-client.ts';
import { DEFAULT_CLIENT_ID, startSandbox } from '../../test/sandbox/sandbox.ts';
import type { RunOutput } from './demo/run-output.ts';
import { deployStack } from './deploy.ts';
import { type Emulator, startEmulator } from './emulator/emulator.ts';
import { fillSecrets } from './fill-secrets.ts';
import type { Options } from './read-options.ts';

/** The app, deployed to an emulator and connected to the provider sandbox. */
export type LocalSystem = {
  emulator: Emulator;
  /** Outputs of the stack by name. */
  outputs: Record<string, string>;
  api: { base: string; fetch: ReturnType<typeof signedFetch> };
  /** Behind the scenes of the provider: what happens there, and what only its users could do. */
  provider: SandboxControl;
};

export type Run = {
  options: Options;
  /** For logs and temporary files. */
  directory: string;
  show: RunOutput;
  /** Aborts whatever is going on. */
  signal: AbortSignal;
  /** Settings of the app that this run wants otherwise than `npm start` has them. */
  settings?: Readonly<Record<string, string>>;
  /** More environment for the emulator, which its functions inherit. */
  emulatorEnv?: Readonly<Record<string, string>>;
  /** Registers what must happen at the end of the run, however it ends; the last one first. */
  atEnd(cleanup: () => Promise<void>): void;
};

const stackName = stackNameOf(LOCAL_STAGE);

/**
 * Seconds instead of minutes, so that a person who plays with the outcomes sees every fallback happen. The provider
 * sandbox answers at once, so 2 s is long; start-task then needs 4 × 2 + 3 s (infra/config.ts).
 */
const shortTimes = {
  providerConnectTimeoutMs: '1000',
  providerTimeoutMs: '2000',
  startTimeoutSeconds: '11',
  webhookWaitSeconds: '20',
  startWindowSeconds: '60',
  // MiniStack does not know MaxDelaySeconds: its pauses double for ever, unless they are all the same.
  startRetryFirstSeconds: '3',
  startRetryEverySeconds: '3',
  deadlineSeconds: '120',
  machineSlackSeconds: '30',
  pollFirstSeconds: '2',
  pollEverySeconds: '2',
  sweepEveryMinutes: '1',
  // On an emulator that was there before, a warm function still holds the key of the run before.
  signingKeyRefreshSeconds: '1',
};

/** Starts and connects everything. Every part that it starts ends with the run. */
export const startLocalSystem = async (run: Run): Promise<LocalSystem> => {
  const { directory, show, signal } = run;
  const secrets = { providerApiKey: randomKey(), webhookSigningKey: randomKey() };
  const sandbox = await startProvider(run, secrets);
  const started = startEmulatorOf(run);
  const outputs = await deployStack({
    emulator: started,
    context: {
      stage: LOCAL_STAGE,
      providerBaseUrl: sandbox.baseUrl,
      providerClientId: DEFAULT_CLIENT_ID,
      widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
      ...shortTimes,
      ...run.settings,
    },
    directory,
    onProgress: (step) => show.wait('deploy', step),
    signal,
  });
  show.done('deploy', `${stackName}, with the CDK CLI`);
  const emulator = await started;
  const { client, endpoint } = emulator;
  const base = emulatorApiUrl(endpoint, outputs.ApiId ?? '');
  const webhook = toEmulatorUrl(base, outputs.WebhookUrl ?? '');
  const provider = sandboxControl(sandbox.baseUrl);
  await provider.setWebhook(DEFAULT_CLIENT_ID, { url: webhook });
  show.done('webhook', `registered at the provider: ${webhook}`);
  await fillSecrets(emulator, stackName, secrets);
  show.done(
    'secrets',
    'the provider API key and the webhook signing key are filled: random ones of this run',
  );
  return {
    emulator,
    outputs,
    api: { base, fetch: signedFetch(client) },
    provider,
  };
};

const startProvider = async ({ directory, show, atEnd }: Run, secrets: Parameters<typeof fillSecrets>[2]) => {
  const log = createWriteStream(join(directory, 'provider.log'));
  const { providerApiKey: apiKey, webhookSigningKey: signingKey } = secrets;
  const sandbox = await startSandbox({
    clients: [{ clientId: DEFAULT_CLIENT_ID, apiKey, webhook: { signingKey } }],
    log: (line) => log.write(`${line}\n`),
  });
  atEnd(() => sandbox.close());
  show.done('provider', `sandbox at ${sandbox.baseUrl}`);
  return sandbox;
};

const startEmulatorOf = async (run: Run): Promise<Emulator> => {
  const { options, directory, emulatorEnv, show, signal, atEnd } = run;
  const emulator = await startEmulator({
    auth: false,
    directory,
    ...(options.port !== undefined && { port: options.port }),
    ...(emulatorEnv && { env: emulatorEnv }),
    onInstall: () =>
      show.wait('emulator', 'installing it in a private Python environment (once, about 10 s)'),
    signal,
  });
  atEnd(() => emulator.stop());
  const what = emulator.pid === undefined ? 'found by AWS_ENDPOINT_URL' : 'MiniStack, in memory';
  show.done('emulator', `${emulator.endpoint} (${what})`);
  return emulator;
};

/** 256 bits, as text. */
const randomKey = () => randomBytes(32).toString('hex');
