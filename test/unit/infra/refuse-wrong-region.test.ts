import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../infra/config.ts';
import { refuseWrongRegion } from '../../../infra/refuse-wrong-region.ts';
import { required } from './required-settings.ts';

const config = readConfig({
  ...required,
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:444455556666:on-call',
});
const CDK_DEFAULT_ACCOUNT = '111122223333';

test('a topic and a certificate of another region than the stack are refused, each by its name', () => {
  const deploy = () => refuseWrongRegion(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'us-east-1' });
  expect(deploy).toThrow(ConfigError);
  expect(deploy).toThrow('Setting certificateArn is in eu-west-1, but the stack goes to us-east-1');
  expect(deploy).toThrow('Setting alarmTopicArn is in eu-west-1');
});

test('a region in China is refused', () => {
  expect(() =>
    refuseWrongRegion(readConfig(required), { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'cn-north-1' }),
  ).toThrow('The region cn-north-1 is not supported');
});

test('their own region is taken, and any where nothing is deployed to AWS', () => {
  refuseWrongRegion(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'eu-west-1' });
  refuseWrongRegion(config, { CDK_DEFAULT_REGION: 'us-east-1' });
  refuseWrongRegion(config, {
    CDK_DEFAULT_ACCOUNT,
    CDK_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
  });
});
