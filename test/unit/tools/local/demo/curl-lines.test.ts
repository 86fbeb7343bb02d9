import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emulatorApiUrl } from '../../../../../tools/cli/aws/emulator-url.ts';
import { curlLines, planLines } from '../../../../../tools/local/demo/curl-lines.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';

const endpoint = 'http://127.0.0.1:4566';
const base = emulatorApiUrl(endpoint, 'abcd1234');

const emulator = (accessKeyId: string, secretAccessKey: string, sessionToken?: string) => ({
  client: {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
  },
});

describe('the curl lines', () => {
  it('start an extraction and read it, in any POSIX shell', () => {
    const request = { entity: "o'bank", credentials: { value: { password: '$HOME "x"' } } };
    const script = [`exec 2>&1 1>/dev/null`, ...curlLines(emulator('test', 'test'), base, request)].join(
      '\n',
    );
    const output = execFileSync(
      'sh',
      [
        '-c',
        `curl() { printf '%s\\n' "$@" >&2; printf '{"extractionId":"e-1","status":"REQUESTED"}'; }\n${script}`,
      ],
      { encoding: 'utf8' },
    );
    const signed = ['-s', '--aws-sigv4', 'aws:amz:us-east-1:execute-api', '--user', 'test:test'];
    expect(output.split('\n')).toEqual([
      ...signed,
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify(request),
      'http://127.0.0.1:4566/_aws/execute-api/abcd1234/$default/extractions',
      ...signed,
      'http://127.0.0.1:4566/_aws/execute-api/abcd1234/$default/extractions/e-1',
      '',
    ]);
  });

  it('take credentials other than `test` from the environment', () => {
    const text = curlLines(emulator('AKIA1', 'secret-key', 'secret-token'), base, {}).join('\n');
    expect(text).toContain('--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"');
    expect(text).toContain('-H "X-Amz-Security-Token: $AWS_SESSION_TOKEN"');
    expect(text).not.toMatch(/AKIA1|secret-/);
  });

  it('name the certificate of an HTTPS endpoint', () => {
    const [start] = curlLines({ ...emulator('test', 'test'), caFile: '/a b/ca.crt' }, base, {});
    expect(start).toContain("--cacert '/a b/ca.crt'");
  });
});

describe('the lines that make the provider misbehave', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());

  it('are accepted by the sandbox, as a shell runs them', async () => {
    const lines = planLines(sandbox.controlUrl);
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const { stdout } = await promisify(execFile)('sh', ['-c', line]);
      expect(JSON.parse(stdout)).toMatchObject({ plan: expect.anything() });
    }
  });
});
