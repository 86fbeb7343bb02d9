import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../infra/config.ts';
import { refuseLocalOnAws } from '../../../infra/refuse-local-on-aws.ts';

const local = readConfig({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });
const prod = readConfig({ stage: 'prod', providerBaseUrl: 'https://provider.example' });
const CDK_DEFAULT_ACCOUNT = '111122223333';

test('the stage for emulators is refused where the account is one of AWS', () => {
  expect(() => refuseLocalOnAws(local, { CDK_DEFAULT_ACCOUNT })).toThrow(ConfigError);
});

test('it is taken on an emulator, and where there is no account at all', () => {
  refuseLocalOnAws(local, { CDK_DEFAULT_ACCOUNT, AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' });
  refuseLocalOnAws(local, {});
});

test('every other stage goes anywhere', () => {
  refuseLocalOnAws(prod, { CDK_DEFAULT_ACCOUNT });
});
