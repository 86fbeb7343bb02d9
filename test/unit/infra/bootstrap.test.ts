import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findBootstrapProblem } from '../../../infra/bootstrap.ts';
import { repository } from '../../../tools/local/paths.ts';

const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };

/** What is found where SSM gives this answer, and the request. */
const find = async (status: number, answer: unknown, query: { readonly qualifier?: string } = {}) => {
  const requests: Request[] = [];
  const problem = await findBootstrapProblem(
    { region: 'eu-west-1', credentials, ...query },
    async (request) => {
      requests.push(request as Request);
      return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer), { status });
    },
  );
  return { problem, request: requests[0] };
};

test('an account that is not bootstrapped, or too long ago, has a problem with the command that solves it', async () => {
  const { problem, request } = await find(400, { __type: 'ParameterNotFound' });
  expect(problem).toMatch(/^The CDK has no bootstrap stack in eu-west-1 .*: npm run bootstrap$/);
  expect(request?.url).toBe('https://ssm.eu-west-1.amazonaws.com/');
  expect(await request?.json()).toEqual({ Name: '/cdk-bootstrap/hnb659fds/version' });
  const old = await find(200, { Parameter: { Value: '5' } });
  expect(old.problem).toContain('has version 5, and 6 is needed');
});

test('a bootstrapped account has none, nor one whose parameter cannot be read', async () => {
  const { problem, request } = await find(200, { Parameter: { Value: '30' } }, { qualifier: 'ours' });
  expect(problem).toBeUndefined();
  expect(await request?.json()).toEqual({ Name: '/cdk-bootstrap/ours/version' });
  expect((await find(400, { __type: 'AccessDeniedException' })).problem).toBeUndefined();
  expect((await find(503, 'Service Unavailable')).problem).toBeUndefined();
});

test('npm run bootstrap synthesizes the app of a fresh checkout, as the CDK CLI does before it bootstraps', async () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly bootstrap: string };
  };
  const [command, verb, ...settings] = scripts.bootstrap.split(' ');
  expect([command, verb]).toEqual(['cdk', 'bootstrap']);
  const output = mkdtempSync(join(tmpdir(), 'cosecha-bootstrap-'));
  const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { PATH: process.env.PATH, HOME: output, AWS_EC2_METADATA_DISABLED: 'true', ...nowhere };
  const cli = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');
  try {
    const args = [cli, 'list', ...settings, '--output', join(output, 'cdk.out')];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: repository, env });
    expect(stdout.trim()).toBe('Cosecha-preview');
  } finally {
    rmSync(output, { recursive: true });
  }
});
