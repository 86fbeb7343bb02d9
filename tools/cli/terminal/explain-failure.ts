import { inspect } from 'node:util';
import { CliError, exitCodes, UsageError } from './errors.ts';

type ErrorInfo = {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
};

const isDenial = ({ name, message }: ErrorInfo): boolean =>
  /AccessDenied|UnauthorizedOperation|AuthorizationError|NotAuthorized/.test(name) ||
  /is not authorized to perform/.test(message);

const describeDenial = ({ message }: ErrorInfo): string => {
  const [, caller = 'you', action, resource] =
    /^(?:User: (\S+) )?.*not authorized to perform: ([\w-]+:[\w*]+)(?: on resource: (\S+))?/.exec(message) ??
    [];
  if (action === undefined) return `AWS does not allow it: ${message}`;
  const on = resource === undefined ? '' : ` on ${resource}`;
  return `AWS does not allow ${caller} to ${action}${on}. That permission is missing; docs/cli.md names the policy of each command.`;
};

/** The SDK's message does not name the profile, and is the same for one that does not exist and one that is logged out. */
const describeNoCredentials = ({ message }: ErrorInfo, profile: string | undefined): string =>
  profile === undefined
    ? `There are no AWS credentials (${message.replace(/\.$/, '')}). Log in, or name a profile with --profile.`
    : `There are no AWS credentials in the profile "${profile}". Check its name with aws configure list-profiles, and log in to it.`;

/**
 * A sentence for an expected failure: a CliError, or one of AWS or of the network. Undefined for any other: that is a defect of
 * Cosecha, and its stack is printed. `profile` is that of the command line, if any.
 */
export const explainFailure = (error: unknown, profile?: string): string | undefined => {
  if (error instanceof CliError) return error.message;
  if (!(error instanceof Error)) return undefined;
  const info: ErrorInfo = error;
  if (isDenial(info)) return describeDenial(info);
  switch (info.name) {
    case 'CredentialsProviderError':
    case 'TokenProviderError':
      return describeNoCredentials(info, profile);
    case 'ExpiredToken':
    case 'ExpiredTokenException':
      return 'The AWS credentials have expired. Log in again.';
    case 'InvalidClientTokenId':
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
    case 'SignatureDoesNotMatch':
    case 'InvalidAccessKeyId':
      return `AWS does not accept these credentials (${info.name}). Check that they are of this account, and that your clock is right.`;
  }
  switch (info.code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'EAI_AGAIN': {
      const host = [info.hostname ?? info.address, info.port].filter((part) => part !== undefined).join(':');
      return `${host === '' ? 'The network' : host} does not answer (${String(info.code)}).`;
    }
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `The certificate is not trusted (${String(info.code)}). Name its authority in NODE_EXTRA_CA_CERTS.`;
  }
  // Any other error of AWS. Its message quotes names of resources, and no values.
  if ('$metadata' in error) return `AWS answered ${info.name}: ${info.message}`;
  return undefined;
};

/** The lines to print for a failure, and its exit code. An unexpected one is printed with its stack and causes. */
export const describeFailure = (error: unknown, profile: string | undefined) => {
  if (error instanceof CliError) {
    return { lines: error.lines, code: error instanceof UsageError ? exitCodes.usage : exitCodes.failed };
  }
  const sentence = explainFailure(error, profile);
  return { lines: sentence === undefined ? inspect(error).split('\n') : [sentence], code: exitCodes.failed };
};
