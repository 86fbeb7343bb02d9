import { defined } from '../../../lib/defined.ts';
import { awsVariables } from './aws-environment.ts';
import { findEmulator } from './find-emulator.ts';
import { type EmulatorOptions, launchEmulator } from './launch-emulator.ts';

/** A running AWS emulator, started here or named by AWS_ENDPOINT_URL. */
export type Emulator = {
  /** Without a trailing slash. */
  endpoint: string;
  /** The configuration of an AWS SDK client, with root credentials. */
  client: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  };
  /** The environment of child processes: the CDK CLI, the AWS CLI, Node programs. */
  awsEnv: Record<string, string>;
  /** The PEM file to trust, where the endpoint is HTTPS with a self-signed certificate. */
  caFile?: string;
  /** Present only if it was started here. */
  pid?: number;
  logFile?: string;
  /** Stops it and its Lambda functions, if it was started here. Idempotent. */
  stop(): Promise<void>;
};

/**
 * Starts MiniStack in memory on 127.0.0.1, or uses the emulator that AWS_ENDPOINT_URL names. A started one ends with this
 * process, however that ends. Its account is 000000000000, its region us-east-1.
 *
 * Its root has a random access key of this run, whose signature is not checked. Any other key has to belong to an IAM user or to a session
 * of a role, and with IAM enforced, its signature is checked (serve_emulator.py).
 *
 * @throws CliError
 */
export const startEmulator = async (options: EmulatorOptions): Promise<Emulator> => {
  const named = process.env.AWS_ENDPOINT_URL;
  const { access, ...rest } = named
    ? { access: await findEmulator(named, options.auth, process.env), stop: async () => {} }
    : await launchEmulator(options);
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken, caFile } = access;
  return {
    endpoint,
    client: { endpoint, region, credentials: { accessKeyId, secretAccessKey, ...defined({ sessionToken }) } },
    awsEnv: awsVariables(access),
    ...defined({ caFile }),
    ...rest,
  };
};
