import { delimiter } from 'node:path';
import { nodeDirectory } from '../paths.ts';

type Environment = Record<string, string | undefined>;

/** Where an emulator is and what it accepts as its root credentials. */
export type AwsAccess = {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** PEM file of the endpoint's own certificate, for HTTPS. */
  caFile?: string;
};

/**
 * The variables that send an AWS SDK, the CDK CLI or the AWS CLI to the emulator. The config files are shut out: a
 * profile there could name other credentials or, for one service, another endpoint.
 */
export const awsVariables = (access: AwsAccess): Record<string, string> => {
  return {
    AWS_ENDPOINT_URL: access.endpoint,
    AWS_REGION: access.region,
    AWS_DEFAULT_REGION: access.region,
    AWS_ACCESS_KEY_ID: access.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
    ...(access.sessionToken !== undefined && { AWS_SESSION_TOKEN: access.sessionToken }),
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    // The CDK CLI reads the first, every Node process the second (once, as it starts).
    ...(access.caFile !== undefined && { AWS_CA_BUNDLE: access.caFile, NODE_EXTRA_CA_CERTS: access.caFile }),
  };
};

/**
 * `env` without whatever could lead a child to a real AWS account or round the emulator (AWS_PROFILE,
 * AWS_ENDPOINT_URL_S3, a proxy, …), and with Node 24 first on its PATH.
 */
export const withoutAws = (env: Environment): Environment => {
  const kept = Object.entries(env).filter(([name]) => !/^(AWS|CDK)_|_proxy$/i.test(name));
  return { ...Object.fromEntries(kept), PATH: [nodeDirectory, env.PATH ?? ''].join(delimiter) };
};

/** What the emulator is given of our environment: its Lambdas inherit all of it, so no more than they need. */
export const emulatorBase = (env: Environment): Environment => {
  const { PATH } = withoutAws(env);
  // UTC, as for Lambda functions on AWS.
  return { PATH, HOME: env.HOME, LANG: env.LANG ?? 'C.UTF-8', TZ: 'UTC' };
};
