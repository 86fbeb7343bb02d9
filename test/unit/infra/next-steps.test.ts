import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stepsAfterDeploy } from '../../../infra/next-steps.ts';
import { repository } from '../../../tools/local/paths.ts';

const outputs = {
  FillProviderApiKey: 'fill-api-key',
  FillWebhookSigningKey: 'fill-signing-key',
  WebhookUrl: 'https://api.example/webhooks/provider',
};

test('a deployment ends with numbered steps, which name the outputs of the stack', () => {
  const text = stepsAfterDeploy('Cosecha-prod', outputs).join('\n');
  expect(text.match(/^\d\. /gm)).toHaveLength(5);
  for (const output of Object.values(outputs)) expect(text).toContain(output);
  expect(text).toContain('npx cosecha --stage prod doctor');
});

test('with a custom domain, its DNS record is the first step', () => {
  const steps = stepsAfterDeploy('Cosecha-prod', { ...outputs, CustomDomainTarget: 'd-1.example' });
  expect(steps[1]).toMatch(/^1\. Create the DNS record .* d-1\.example$/);
});

test('a stack of another kind has no steps', () => {
  expect(stepsAfterDeploy('Other', {})).toEqual([]);
});

test('npm run deploy without credentials says to log in, and deploys nothing', async () => {
  const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { PATH: process.env.PATH, HOME: '/nowhere', AWS_EC2_METADATA_DISABLED: 'true', ...nowhere };
  const run = (args: readonly string[]) =>
    new Promise<{ readonly code: unknown; readonly stderr: string }>((resolve) => {
      const script = join(repository, 'infra', 'cdk-command.ts');
      execFile(process.execPath, [script, 'deploy', ...args], { env }, (error, _stdout, stderr) =>
        resolve({ code: error?.code, stderr }),
      );
    });
  expect(await run([])).toEqual({
    code: 1,
    stderr: 'There are no AWS credentials. Log in, or name a profile with --profile.\n',
  });
  expect((await run(['--profile=mine'])).stderr).toContain('in the profile "mine"');
});
