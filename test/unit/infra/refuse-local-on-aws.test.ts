import { expect, test } from 'vitest';
import { readConfig } from '../../../infra/config.ts';
import { ConfigError } from '../../../infra/config-error.ts';
import { refuseLocalOnAws } from '../../../infra/refuse-local-on-aws.ts';

const local = readConfig({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });
const another = readConfig({ stage: 'local-bank', providerBaseUrl: 'http://127.0.0.1:8080' });
const prod = readConfig({ stage: 'prod', providerBaseUrl: 'https://provider.example' });
const CDK_DEFAULT_ACCOUNT = '111122223333';

test.each([local, another])('the stage $stage for emulators is refused with an AWS account', (config) => {
  expect(() => refuseLocalOnAws(config, { CDK_DEFAULT_ACCOUNT })).toThrow(ConfigError);
});

test('it is accepted with an emulator, and without an account', () => {
  refuseLocalOnAws(local, { CDK_DEFAULT_ACCOUNT, AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' });
  refuseLocalOnAws(local, {});
});

test('every other stage is accepted with an AWS account', () => {
  refuseLocalOnAws(prod, { CDK_DEFAULT_ACCOUNT });
});
