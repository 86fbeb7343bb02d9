import { expect, test } from 'vitest';
import { readConfig } from '../../../infra/config.ts';
import { ConfigError } from '../../../infra/config-error.ts';
import { refuseWrongEnvironment } from '../../../infra/refuse-wrong-environment.ts';
import { required } from './required-settings.ts';

const config = readConfig({
  ...required,
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:444455556666:on-call',
  readers: 'arn:aws:iam::111122223333:role/auditor',
});
const CDK_DEFAULT_ACCOUNT = '111122223333';

test('a topic and a certificate of another region than the stack are refused, each by its name', () => {
  const deploy = () =>
    refuseWrongEnvironment(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'us-east-1' });
  expect(deploy).toThrow(ConfigError);
  expect(deploy).toThrow('Setting certificateArn is in eu-west-1, but the stack goes to us-east-1');
  expect(deploy).toThrow('Setting alarmTopicArn is in eu-west-1');
});

test('a reader of another account, whom the API would never let in, is refused', () => {
  const reader = readConfig({ ...required, readers: 'arn:aws:iam::444455556666:role/auditor' });
  expect(() =>
    refuseWrongEnvironment(reader, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'eu-west-1' }),
  ).toThrow('Setting readers names arn:aws:iam::444455556666:role/auditor, but the stack goes to account');
});

test.each([
  'cn-north-1',
  'us-gov-west-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'us-isof-south-1',
  'eu-isoe-west-1',
  'eusc-de-east-1',
])('a region of another partition is refused: %s', (region) => {
  expect(() =>
    refuseWrongEnvironment(readConfig(required), { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: region }),
  ).toThrow(`The region ${region} is not supported`);
});

test('their own account and region are taken, and any where nothing is deployed to AWS', () => {
  refuseWrongEnvironment(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'eu-west-1' });
  refuseWrongEnvironment(config, { CDK_DEFAULT_REGION: 'us-east-1' });
  refuseWrongEnvironment(config, {
    CDK_DEFAULT_ACCOUNT,
    CDK_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
  });
});
