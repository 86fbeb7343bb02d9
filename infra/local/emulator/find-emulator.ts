import { EmulatorFailed } from '../expected-failure.ts';
import type { AwsAccess } from './aws-environment.ts';

/**
 * The emulator that AWS_ENDPOINT_URL names, with the credentials of the environment, or `test` where it has none.
 *
 * @throws EmulatorFailed where nothing answers, where it is AWS itself, or where it says that it does not enforce IAM
 *   although `auth` is asked for.
 */
export const findEmulator = async (
  url: string,
  auth: boolean,
  env: Record<string, string | undefined>,
): Promise<AwsAccess> => {
  const endpoint = url.replace(/\/+$/, '');
  if (!URL.canParse(endpoint)) {
    throw new EmulatorFailed(
      'AWS_ENDPOINT_URL is no URL: set it to something like http://127.0.0.1:4566, or unset it.',
    );
  }
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname)) {
    throw new EmulatorFailed(
      `AWS_ENDPOINT_URL names AWS itself (${endpoint}): local runs go to an emulator only; unset it, and use ` +
        '`npm run deploy` for a real account.',
    );
  }
  const health = await readHealth(endpoint);
  if (auth && health.auth === 'disabled') {
    throw new EmulatorFailed(
      `The emulator at ${endpoint} does not enforce IAM: start it with AUTH=true and USE_SSL=1, or unset ` +
        'AWS_ENDPOINT_URL to have one started.',
    );
  }
  return {
    endpoint,
    region: env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1',
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? 'test',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? 'test',
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
    ...(env.NODE_EXTRA_CA_CERTS && { caFile: env.NODE_EXTRA_CA_CERTS }),
  };
};

/** Any answer will do, as it may be another emulator than MiniStack; what MiniStack says of itself is read. */
const readHealth = async (endpoint: string): Promise<{ auth?: unknown }> => {
  let response: Response;
  try {
    response = await fetch(`${endpoint}/_ministack/health`, { signal: AbortSignal.timeout(5_000) });
  } catch (cause) {
    throw new EmulatorFailed(
      `Nothing answers at ${endpoint}, which AWS_ENDPOINT_URL names: start that emulator, or unset the variable to ` +
        'have one started (for HTTPS, name its certificate in NODE_EXTRA_CA_CERTS).',
      { cause },
    );
  }
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null ? body : {};
};
