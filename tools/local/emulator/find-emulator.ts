import { regionIn } from '../../../lib/aws-region.ts';
import { CliError } from '../../cli/terminal/errors.ts';

/**
 * Finds the emulator at `url`. The credentials are from `env`, or `test` if it has none.
 *
 * @throws CliError if nothing answers, if it is AWS itself, or if it does not enforce IAM although `auth` requires it
 */
export const findEmulator = async (url: string, auth: boolean, env: Record<string, string | undefined>) => {
  const endpoint = url.replace(/\/+$/, '');
  if (!URL.canParse(endpoint)) {
    throw new CliError(
      'AWS_ENDPOINT_URL is not a URL. Set it to one such as http://127.0.0.1:4566, or unset it.',
    );
  }
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname)) {
    throw new CliError(
      `AWS_ENDPOINT_URL names AWS itself (${endpoint}), but local runs need an emulator. Unset it, and use ` +
        '`npm run deploy` for a real account.',
    );
  }
  const health = await readHealth(endpoint);
  if (auth && health.auth === 'disabled') {
    throw new CliError(
      `The emulator at ${endpoint} does not enforce IAM. Start it with AUTH=true and USE_SSL=1, or unset ` +
        'AWS_ENDPOINT_URL to start one here.',
    );
  }
  return {
    endpoint,
    region: regionIn(env) ?? 'us-east-1',
    accessKeyId: env.AWS_ACCESS_KEY_ID || 'test',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY || 'test',
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
    ...(env.NODE_EXTRA_CA_CERTS && { caFile: env.NODE_EXTRA_CA_CERTS }),
  };
};

/** MiniStack's health report, or an empty object for another emulator, of which any answer suffices. */
const readHealth = async (endpoint: string): Promise<{ auth?: unknown }> => {
  let response: Response;
  try {
    response = await fetch(`${endpoint}/_ministack/health`, { signal: AbortSignal.timeout(5_000) });
  } catch (cause) {
    throw new CliError(
      `Nothing answers at ${endpoint}, which AWS_ENDPOINT_URL names. Start that emulator, or unset the variable to ` +
        'start one here. For HTTPS, NODE_EXTRA_CA_CERTS has to name its certificate.',
      { cause },
    );
  }
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null ? body : {};
};
