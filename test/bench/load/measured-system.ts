import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deployStack } from '../../../infra/local/deploy.ts';
import { type Emulator, startEmulator } from '../../../infra/local/emulator.ts';
import { fillSecrets } from '../../../infra/local/fill-secrets.ts';
import { createRunDirectory } from '../../../infra/local/paths.ts';
import { apiBase, onEmulator } from '../../../lib/aws/api-address.ts';
import { signedFetch } from '../../../lib/aws/signed-fetch.ts';
import { LOCAL_STAGE, stackNameOf } from '../../../lib/aws/stage.ts';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { DEFAULT_CLIENT_ID, startSandbox } from '../../sandbox/sandbox.ts';

/** The app as it is deployed anywhere, on an emulator of its own, every function of it with the recorder. */
export type MeasuredSystem = {
  readonly emulator: Emulator;
  readonly outputs: Readonly<Record<string, string>>;
  readonly api: string;
  readonly fetch: ReturnType<typeof signedFetch>;
  readonly provider: SandboxControl;
  /** Where the functions write their invocations down. */
  readonly invocations: string;
  /** Ends emulator and provider. */
  readonly end: () => Promise<void>;
};

/** All defaults, but for a sweep that would come in between. */
const settings = { stage: LOCAL_STAGE, sweepEveryMinutes: '60' };

/**
 * Without AUTH and TLS, which `npm test` has: they would make the emulator slower and nothing truer here.
 *
 * @throws whatever emulator, provider or deployment fail with; everything is ended then
 */
export const startMeasuredSystem = async (): Promise<MeasuredSystem> => {
  const directory = await createRunDirectory('load', new Date());
  const invocations = join(directory, 'invocations');
  await mkdir(invocations);
  const [apiKey, signingKey] = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
  const sandbox = await startSandbox({
    clients: [{ clientId: DEFAULT_CLIENT_ID, apiKey, webhook: { signingKey } }],
    // The emulator's first processes may keep a delivery waiting for over 5 s. Hung up on, it would come again 30 s
    // later, among those of another batch.
    attemptTimeoutMs: 60_000,
  });
  const recorder = pathToFileURL(join(import.meta.dirname, 'record-invocations.ts')).href;
  const starting = startEmulator({
    auth: false,
    directory,
    env: { COSECHA_INVOCATIONS: invocations, NODE_OPTIONS: `--import=${recorder}` },
  });
  const end = async () => {
    await sandbox.close();
    await starting.then((emulator) => emulator.stop());
  };
  try {
    const context = { ...settings, providerBaseUrl: sandbox.baseUrl };
    const outputs = await deployStack({ emulator: starting, context, directory });
    const emulator = await starting;
    const api = apiBase(emulator.endpoint, outputs.ApiId ?? '');
    const provider = sandboxControl(sandbox.baseUrl);
    await provider.setWebhook(DEFAULT_CLIENT_ID, { url: onEmulator(api, outputs.WebhookUrl ?? '') });
    await fillSecrets(emulator, stackNameOf(LOCAL_STAGE), {
      providerApiKey: apiKey,
      webhookSigningKey: signingKey,
    });
    return { emulator, outputs, api, fetch: signedFetch(emulator.client), provider, invocations, end };
  } catch (error) {
    await end().catch(() => {});
    throw error;
  }
};
