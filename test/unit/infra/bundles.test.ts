import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { flatten, type Resource, resourcesOf, synthesize } from './synth.ts';

const { app, template } = synthesize({ 'aws:cdk:bundling-stacks': ['**'] });
const { directory } = app.synth();

const functions = Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(
  ([id, { Properties }]): [name: string, properties: Resource['Properties']] => [
    id.replace(/Function[0-9A-F]{8}$/, ''),
    Properties,
  ],
);

const bundleOf = (properties: Resource['Properties']): string => {
  const { S3Key } = properties.Code as { readonly S3Key: string };
  return join(directory, `asset.${S3Key.replace(/\.zip$/, '')}`, 'index.mjs');
};

test("the webhook's bundle stays small, as the provider waits for its cold start", () => {
  const { ReceiveWebhook = {} } = Object.fromEntries(functions);
  expect(statSync(bundleOf(ReceiveWebhook)).size).toBeLessThanOrEqual(270_000);
});

test.each(functions)(
  '%s loads with the environment that it is given and exports a handler',
  async (_, properties) => {
    const { Variables } = properties.Environment as { readonly Variables: Readonly<Record<string, unknown>> };
    const environment = Object.fromEntries(
      Object.entries(Variables).map(([name, value]) => [name, flatten(value)]),
    );
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--eval',
        `import(${JSON.stringify(bundleOf(properties))}).then((bundle) => console.log(typeof bundle.handler))`,
      ],
      { env: { AWS_REGION: 'eu-west-1', ...environment } },
    );
    expect(stdout.trim()).toBe('function');
  },
);
