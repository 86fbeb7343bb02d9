import { describe, expect, it } from 'vitest';
import { findEmulator } from '../../../../../tools/local/emulator/find-emulator.ts';
import { EmulatorFailed } from '../../../../../tools/local/expected-failure.ts';
import { closedPort, httpServer } from '../../../../support/local-servers.ts';

/** An emulator that answers every request with this. */
const emulatorAnswering = async (body: string): Promise<string> =>
  (await httpServer((response) => response.end(body))).baseUrl;

const failure = (url: string, auth = false) => findEmulator(url, auth, {}).catch((error: unknown) => error);

describe('the emulator that AWS_ENDPOINT_URL names', () => {
  it('is used with the credentials of the environment', async () => {
    const url = await emulatorAnswering('{"auth":"enabled"}');
    const env = { AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(await findEmulator(`${url}/`, true, env)).toEqual({
      endpoint: url,
      region: 'sa-east-1',
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    });
  });

  it('is used with the credentials `test` if there are none, also if it is not MiniStack', async () => {
    const url = await emulatorAnswering('not JSON');
    expect(await findEmulator(url, true, {})).toMatchObject({ accessKeyId: 'test', secretAccessKey: 'test' });
  });

  it('is refused if it does not enforce IAM although the run requires it', async () => {
    const url = await emulatorAnswering('{"auth":"disabled"}');
    expect(await failure(url, true)).toEqual(
      expect.objectContaining({
        name: 'EmulatorFailed',
        message: expect.stringContaining('AUTH=true and USE_SSL=1'),
      }),
    );
    expect(await findEmulator(url, false, {})).toMatchObject({ endpoint: url });
  });

  it('is refused if it is AWS itself', async () => {
    const error = await failure('https://sts.us-east-1.amazonaws.com');
    expect(error).toBeInstanceOf(EmulatorFailed);
    expect(String(error)).toContain('names AWS itself');
  });

  it('is refused if it is not a URL', async () => {
    expect(String(await failure('localhost'))).toContain('AWS_ENDPOINT_URL is not a URL');
  });

  it('is refused if nothing answers', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(String(await failure(url))).toContain(`Nothing answers at ${url}`);
  });
});
