import { type AwsAccess, awsVariables } from './aws-environment.ts';
import { findEmulator } from './find-emulator.ts';
import { type EmulatorOptions, launchEmulator } from './launch-emulator.ts';

/** A running AWS emulator, ours or one that AWS_ENDPOINT_URL named. */
export type Emulator = {
  /** Without a trailing slash. */
  endpoint: string;
  /** Spread into the configuration of any AWS SDK client: the root credentials, which may do everything. */
  client: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  };
  /** For child processes: the CDK CLI, the AWS CLI, Node programs. */
  awsEnv: Record<string, string>;
  /** PEM file to trust, where the endpoint is HTTPS with a certificate of its own. */
  caFile?: string;
  /** Present only where we started it. */
  pid?: number;
  logFile?: string;
  /** Ends it with all its Lambdas; does nothing to one that we did not start. Idempotent. */
  stop(): Promise<void>;
};

/**
 * Starts MiniStack in memory on 127.0.0.1, or finds the one that AWS_ENDPOINT_URL names. It ends with this process,
 * however that ends.
 *
 * With IAM enforced, root is access key `test` (ministack/core/iam_evaluator.py, is_root_access_key; a key of twelve
 * digits is root of that account) and its secret is not checked; any other key must be an IAM user's or a role's
 * session's, and its signature is. Account 000000000000, region us-east-1.
 *
 * @throws PythonMissing, PythonEnvironmentFailed, PortTaken, EmulatorFailed
 */
export const startEmulator = async (options: EmulatorOptions): Promise<Emulator> => {
  const named = process.env.AWS_ENDPOINT_URL;
  if (named)
    return toEmulator(await findEmulator(named, options.auth, process.env), { stop: async () => {} });
  const { access, ...rest } = await launchEmulator(options);
  return toEmulator(access, rest);
};

const toEmulator = (access: AwsAccess, rest: Pick<Emulator, 'pid' | 'logFile' | 'stop'>): Emulator => {
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken, caFile } = access;
  return {
    endpoint,
    client: {
      endpoint,
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    },
    awsEnv: awsVariables(access),
    ...(caFile !== undefined && { caFile }),
    ...rest,
  };
};
