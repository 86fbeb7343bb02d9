import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { closedPort } from '#support/programs/closed-port.ts';
import { httpServer } from '#support/programs/stub-servers.ts';
import { CliError } from '#tools/cli/terminal/errors.ts';
import { emulatorBase, withoutAws } from '#tools/local/emulator/aws-environment.ts';
import { findEmulator } from '#tools/local/emulator/find-emulator.ts';
import { findPython, type Python } from '#tools/local/emulator/find-python.ts';
import { environmentKey } from '#tools/local/emulator/python-environment.ts';

const developer = {
  PATH: '/usr/bin',
  HOME: '/home/somebody',
  AWS_PROFILE: 'production',
  AWS_ENDPOINT_URL_S3: 'https://s3.example',
  CDK_DEFAULT_ACCOUNT: '123456789012',
  HTTPS_PROXY: 'http://proxy.example',
  no_proxy: '*',
  LANG: 'es_CL.UTF-8',
};

describe('the environment of a child process', () => {
  it('keeps no variable that could direct it to AWS, and has the Node of this process first on its PATH', () => {
    expect(Object.keys(withoutAws(developer)).sort()).toEqual(['HOME', 'LANG', 'PATH']);
    expect(withoutAws(developer).PATH).toMatch(/[^:]+:\/usr\/bin$/);
  });

  it('has only what the emulator needs, as its Lambda functions inherit it', () => {
    const names = Object.keys(emulatorBase({ ...developer, SECRET: 'x' }));
    expect(names.sort()).toEqual(['HOME', 'LANG', 'PATH', 'TZ']);
  });
});

/** An emulator that answers every request with this. */
const emulatorAnswering = async (body: string): Promise<string> =>
  (await httpServer((response) => response.end(body))).baseUrl;

const failure = (url: string, auth = false) => findEmulator(url, auth, {}).catch((error: unknown) => error);

describe('the emulator that AWS_ENDPOINT_URL names', () => {
  it('is used with the credentials of the environment', async () => {
    const url = await emulatorAnswering('{"auth":"enabled"}');
    const env = { AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const keys = { accessKeyId: 'key', secretAccessKey: 'secret' };
    expect(await findEmulator(`${url}/`, true, env)).toEqual({ endpoint: url, region: 'sa-east-1', ...keys });
  });

  it('is used with the credentials `test` if there are none, also if it is not MiniStack', async () => {
    const url = await emulatorAnswering('not JSON');
    expect(await findEmulator(url, true, {})).toMatchObject({ accessKeyId: 'test', secretAccessKey: 'test' });
  });

  it('is refused if it does not enforce IAM although the run requires it', async () => {
    const url = await emulatorAnswering('{"auth":"disabled"}');
    const message = expect.stringContaining('AUTH=true and USE_SSL=1');
    expect(await failure(url, true)).toMatchObject({ name: 'CliError', message });
    expect(await findEmulator(url, false, {})).toMatchObject({ endpoint: url });
  });

  it('is refused if it is AWS itself, no URL, or nothing answers there', async () => {
    const error = await failure('https://sts.us-east-1.amazonaws.com');
    expect(error).toBeInstanceOf(CliError);
    expect(String(error)).toContain('names AWS itself');
    expect(String(await failure('localhost'))).toContain('AWS_ENDPOINT_URL is not a URL');
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(String(await failure(url))).toContain(`Nothing answers at ${url}`);
  });
});

const python = (version: string, missing: string[] = []): Python => ({
  executable: `/opt/python-${version}/bin/python3`,
  version,
  isOld: version.startsWith('3.8'),
  missing,
});

/** Searches where the first candidates are these, and there is no other. */
const find = (...found: Python[]) => findPython(async () => found.shift());

const old = python('3.8.18');
const lacks =
  /Python 3\.11\.2 at \/opt\/python-3\.11\.2\/bin\/python3 lacks venv and ensurepip.*apt install python3-venv/;

describe('the choice of a Python', () => {
  it('is the first that is new enough and complete', async () => {
    const found = [old, python('3.11.2', ['ensurepip']), python('3.12.1'), python('3.13.0')];
    expect(await find(...found)).toMatchObject({ version: '3.12.1' });
  });

  it.each([
    [[], /^The AWS emulator needs Python 3\.10 or later, and none was found .*AWS_ENDPOINT_URL/],
    [[old], 'only 3.8.18, at /opt/python-3.8.18/bin/python3, was found'],
    [[old, python('3.11.2', ['venv', 'ensurepip'])], lacks],
  ])('fails with what %j lack, and the remedy', async (found, message) => {
    await expect(find(...found)).rejects.toThrow(message);
  });
});

it('the key of a Python environment differs with the requirements, the Python and the platform', () => {
  const python = { executable: '/usr/bin/python3', version: '3.12.1' };
  const keys = [
    environmentKey('a==1', python, 'linux-x64'),
    environmentKey('a==2', python, 'linux-x64'),
    environmentKey('a==1', { ...python, version: '3.12.2' }, 'linux-x64'),
    environmentKey('a==1', { ...python, executable: '/opt/python3' }, 'linux-x64'),
    environmentKey('a==1', python, 'darwin-arm64'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

const pinned = ['tools/local/emulator', 'test/second-opinion', 'test/second-opinion/generated-clients'];

it.each(pinned)('%s/requirements.txt pins every package by version and by hash', (directory) => {
  const lines = readFileSync(`${directory}/requirements.txt`, 'utf8').replaceAll('\\\n', ' ').split('\n');
  const requirements = lines.filter((line) => line !== '' && !line.startsWith('#'));
  expect(requirements.length).toBeGreaterThan(10);
  for (const requirement of requirements)
    expect(requirement).toMatch(/^[a-z0-9-]+==[\w.]+ .*--hash=sha256:[0-9a-f]{64}/);
});
