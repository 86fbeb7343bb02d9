import { delimiter } from 'node:path';
import { nodeDirectory } from '../paths.ts';

type Environment = Record<string, string | undefined>;

/** The address of an emulator, and its root credentials. */
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
 * The variables that direct an AWS SDK, the CDK CLI or the AWS CLI to the emulator. Config files are excluded, as a profile
 * could name other credentials or another endpoint of a service.
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
    // The CDK CLI reads the first. Every Node process reads the second when it starts.
    ...(access.caFile !== undefined && { AWS_CA_BUNDLE: access.caFile, NODE_EXTRA_CA_CERTS: access.caFile }),
  };
};

/**
 * `env` without variables that could direct a child process to AWS instead of the emulator (AWS_PROFILE,
 * AWS_ENDPOINT_URL_S3, a proxy, …), and with Node 24 first on its PATH.
 */
export const withoutAws = (env: Environment): Environment => {
  const kept = Object.entries(env).filter(([name]) => !/^(AWS|CDK)_|_proxy$/i.test(name));
  return { ...Object.fromEntries(kept), PATH: [nodeDirectory, env.PATH ?? ''].join(delimiter) };
};

/** The environment of the emulator. Its Lambda functions inherit all of it, so it has only what they need. */
export const emulatorBase = (env: Environment): Environment => {
  const { PATH } = withoutAws(env);
  // UTC, as for Lambda functions on AWS.
  return { PATH, HOME: env.HOME, LANG: env.LANG ?? 'C.UTF-8', TZ: 'UTC' };
};
