import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_STAGE, stackNameOf } from '../../lib/aws/stage.ts';
import { signedFetch } from '../../lib/client/signed-fetch.ts';
import { defined } from '../../lib/defined.ts';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { DEFAULT_WIDGET_CONFIG_ID } from '../../sandbox/registered-client.ts';
import { DEFAULT_CLIENT_ID, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { emulatorApiUrl, toEmulatorUrl } from '../cli/aws/local-deployment.ts';
import { deployStack } from './deploy.ts';
import { type Emulator, startEmulator } from './emulator/emulator.ts';
import { fillSecrets } from './fill-secrets.ts';
import type { RunOutput } from './run-output.ts';

export type Run = {
  /** The port of the emulator. Any free one if omitted. */
  port?: number;
  directory: string;
  show: RunOutput;
  signal: AbortSignal;
  /** The root of the checkout that is deployed. Default: this one. */
  tree?: string;
  /** Settings of the app in place of the short times of `npm start`. */
  settings?: Readonly<Record<string, string>>;
  /** How the sandbox behaves, where it is not as by default. */
  sandbox?: Omit<SandboxOptions, 'clients'>;
  /** Whether the emulator enforces IAM, over HTTPS. */
  auth?: boolean;
  /** How long the emulator may take to stop, in milliseconds. */
  stopGraceMs?: number;
  /** Further environment variables of the emulator, which its functions inherit. */
  emulatorEnv?: Readonly<Record<string, string>>;
  /** Registers a cleanup for the end of the run, however it ends. The last one runs first. */
  atEnd(cleanup: () => Promise<void>): void;
};

const stackName = stackNameOf(LOCAL_STAGE);

/**
 * Seconds instead of minutes, so that one can watch every fallback. The provider sandbox answers at once, so a timeout of
 * 2 s suffices. start-task then needs 5 × 2 + 3 s (infra/settings/config.ts).
 */
export const shortTimes = {
  providerConnectTimeoutMs: '1000',
  providerTimeoutMs: '2000',
  startTimeoutSeconds: '13',
  webhookWaitSeconds: '20',
  startWindowSeconds: '60',
  // MiniStack ignores MaxDelaySeconds, so its intervals would double without limit. Equal settings keep them equal.
  startRetryFirstSeconds: '3',
  startRetryEverySeconds: '3',
  deadlineSeconds: '120',
  machineSlackSeconds: '30',
  pollFirstSeconds: '2',
  pollEverySeconds: '2',
  sweepEveryMinutes: '1',
  // On an emulator that was running before, a warm function still has the signing key of the previous run.
  signingKeyRefreshSeconds: '1',
};

/** Starts and connects everything. Each part is stopped at the end of the run. */
export const startLocalSystem = async (run: Run) => {
  const { directory, show, signal } = run;
  const secrets = { providerApiKey: randomKey(), webhookSigningKey: randomKey() };
  const sandbox = await startProvider(run, secrets);
  const starting = startEmulatorOf(run);
  const context = {
    stage: LOCAL_STAGE,
    providerBaseUrl: sandbox.baseUrl,
    providerClientId: DEFAULT_CLIENT_ID,
    widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
    ...(run.settings ?? shortTimes),
  };
  const outputs = await deployStack({
    emulator: starting,
    context,
    directory,
    ...defined({ tree: run.tree }),
    onProgress: (step) => show.wait('deploy', step),
    signal,
  });
  show.done('deploy', `${stackName}, with the CDK CLI`);
  const emulator = await starting;
  const { client, endpoint } = emulator;
  const base = emulatorApiUrl(endpoint, outputs.ApiId ?? '');
  const webhook = toEmulatorUrl(base, outputs.WebhookUrl ?? '');
  const provider = sandboxControl(sandbox.baseUrl);
  await provider.setWebhook(DEFAULT_CLIENT_ID, { url: webhook });
  show.done('webhook', `registered at the provider: ${webhook}`);
  await fillSecrets(emulator, stackName, secrets);
  show.done('secrets', 'provider API key and webhook signing key filled with random values');
  return {
    emulator,
    outputs,
    api: { base, fetch: signedFetch(client) },
    /** The sandbox's control interface, which reports its events and acts for its users. */
    provider,
    access: { baseUrl: sandbox.baseUrl, apiKey: secrets.providerApiKey },
    secrets,
    endOutage: sandbox.comeBack,
    /** Deploys another checkout over it, with the same settings. `directory` is an existing one of this deployment. */
    deployOver: async (options: { tree: string; directory: string; beforeDeploy: () => Promise<void> }) => {
      await deployStack({ emulator, context, signal, ...options });
    },
  };
};

/** The app, deployed to an emulator and connected to the provider sandbox. */
export type LocalSystem = Awaited<ReturnType<typeof startLocalSystem>>;

const startProvider = async (
  { directory, sandbox: options, show, atEnd }: Run,
  secrets: Parameters<typeof fillSecrets>[2],
) => {
  const log = createWriteStream(join(directory, 'provider.log'));
  const { providerApiKey: apiKey, webhookSigningKey: signingKey } = secrets;
  const sandbox = await startSandbox({
    clients: [{ clientId: DEFAULT_CLIENT_ID, apiKey, webhook: { signingKey } }],
    log: (line) => log.write(`${line}\n`),
    ...options,
  });
  atEnd(() => sandbox.close());
  show.done('provider', `sandbox at ${sandbox.baseUrl}`);
  return sandbox;
};

const startEmulatorOf = async (run: Run): Promise<Emulator> => {
  const { port, directory, emulatorEnv, auth = false, stopGraceMs, show, signal, atEnd } = run;
  const emulator = await startEmulator({
    auth,
    directory,
    ...defined({ port, env: emulatorEnv, stopGraceMs }),
    onInstall: () =>
      show.wait('emulator', 'installing MiniStack in a private Python environment (only once, about 10 s)'),
    signal,
  });
  atEnd(() => emulator.stop());
  const origin = emulator.pid === undefined ? 'named by AWS_ENDPOINT_URL' : 'MiniStack, in memory';
  show.done('emulator', `${emulator.endpoint} (${origin})`);
  return emulator;
};

const randomKey = () => randomBytes(32).toString('hex');
