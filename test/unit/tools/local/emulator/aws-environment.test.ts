import { describe, expect, it } from 'vitest';
import {
  awsVariables,
  emulatorBase,
  withoutAws,
} from '../../../../../tools/local/emulator/aws-environment.ts';

const access = {
  endpoint: 'https://127.0.0.1:4566',
  region: 'us-east-1',
  accessKeyId: 'test',
  secretAccessKey: 'test',
};

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
  it('keeps no variable that could direct it to AWS', () => {
    expect(Object.keys(withoutAws(developer)).sort()).toEqual(['HOME', 'LANG', 'PATH']);
  });

  it('has the Node of this process first on its PATH', () => {
    expect(withoutAws(developer).PATH).toMatch(/[^:]+:\/usr\/bin$/);
  });

  it('has only what the emulator needs, as its Lambda functions inherit it', () => {
    expect(Object.keys(emulatorBase({ ...developer, SECRET: 'x' })).sort()).toEqual([
      'HOME',
      'LANG',
      'PATH',
      'TZ',
    ]);
  });
});

describe('the variables that direct clients to the emulator', () => {
  it('exclude profiles and metadata addresses', () => {
    expect(awsVariables(access)).toEqual({
      AWS_ENDPOINT_URL: 'https://127.0.0.1:4566',
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
  });

  it('name the certificate for the CDK CLI and for Node', () => {
    expect(awsVariables({ ...access, caFile: '/run/emulator.crt' })).toMatchObject({
      AWS_CA_BUNDLE: '/run/emulator.crt',
      NODE_EXTRA_CA_CERTS: '/run/emulator.crt',
    });
  });

  it('contain a session token', () => {
    expect(awsVariables({ ...access, sessionToken: 'token' })).toMatchObject({ AWS_SESSION_TOKEN: 'token' });
  });
});
