import { randomBytes } from 'node:crypto';
import { LOCAL_STAGE, stackNameOf } from '../../../lib/aws/stage.ts';
import { signedFetch } from '../../../lib/client/signed-fetch.ts';
import { emulatorApiUrl, toEmulatorUrl } from '../../../tools/cli/aws/local-deployment.ts';
import { deployStack } from '../../../tools/local/deploy.ts';
import { startEmulator } from '../../../tools/local/emulator/emulator.ts';
import { fillSecrets } from '../../../tools/local/fill-secrets.ts';
import type { LocalSystem } from '../../../tools/local/local-system.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { DEFAULT_CLIENT_ID, startSandbox } from '../../sandbox/sandbox.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** The app on a new emulator, and the sandbox as its provider. */
export type MeasuredSystem = LocalSystem & {
  /** Empty if the functions do not record their calls. */
  readonly ledger: Ledger;
  /** The provider as its clients see it. */
  readonly access: { readonly baseUrl: string; readonly apiKey: string };
  /** Stops the emulator and the provider. */
  readonly end: () => Promise<void>;
};

/** The defaults, without a scheduled sweep that would disturb the measurement. */
const settings = { stage: LOCAL_STAGE, sweepEveryMinutes: '60' };

/**
 * Deploys the app to a new emulator. With `recorded`, every function records its calls in the ledger, which takes CPU.
 * Without AUTH and TLS, as `npm start` and `npm run cost`: they only make the emulator slower.
 *
 * @throws ExpectedFailure if `AWS_ENDPOINT_URL` is set. Errors of the emulator, provider and deployment pass through, and everything is stopped.
 */
export const startMeasuredSystem = async ({
  recorded,
}: {
  readonly recorded: boolean;
}): Promise<MeasuredSystem> => {
  const directory = await createRunDirectory('load', new Date());
  const { ledger, emulatorEnv } = await createLedger(directory);
  const [apiKey, signingKey] = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
  const sandbox = await startSandbox({
    clients: [{ clientId: DEFAULT_CLIENT_ID, apiKey, webhook: { signingKey } }],
    // The emulator's first processes may take over 5 s for a delivery. After a timeout it would be repeated 30 s later,
    // during another batch.
    attemptTimeoutMs: 60_000,
  });
  const starting = startEmulator({ auth: false, directory, env: recorded ? emulatorEnv : {} });
  const end = async () => {
    await sandbox.close();
    await starting.then((emulator) => emulator.stop());
  };
  try {
    const context = { ...settings, providerBaseUrl: sandbox.baseUrl };
    const outputs = await deployStack({ emulator: starting, context, directory });
    const emulator = await starting;
    const base = emulatorApiUrl(emulator.endpoint, outputs.ApiId ?? '');
    const provider = sandboxControl(sandbox.baseUrl);
    await provider.setWebhook(DEFAULT_CLIENT_ID, { url: toEmulatorUrl(base, outputs.WebhookUrl ?? '') });
    await fillSecrets(emulator, stackNameOf(LOCAL_STAGE), {
      providerApiKey: apiKey,
      webhookSigningKey: signingKey,
    });
    const api = { base, fetch: signedFetch(emulator.client) };
    const access = { baseUrl: sandbox.baseUrl, apiKey };
    return { emulator, outputs, api, provider, endOutage: sandbox.comeBack, ledger, access, end };
  } catch (error) {
    await end().catch(() => {});
    throw error;
  }
};
