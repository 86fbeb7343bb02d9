import { inspect } from 'node:util';
import { CliError, exitCodes, UsageError } from './errors.ts';

type ErrorInfo = {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  /** The SDK adds it to each of its errors, and only errors of an answer have its status. */
  readonly $metadata?: { readonly httpStatusCode?: number };
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
const describeNoCredentials = ({ message }: ErrorInfo, profile: string | undefined): string => {
  const because = message.replace(/\.$/, '');
  if (/\bsso\b/i.test(message)) {
    return `The login of AWS SSO is over, or was never made (${because}). Run: aws sso login${profile === undefined ? '' : ` --profile ${profile}`}`;
  }
  // Without a terminal nobody can be asked for a code.
  if (/multi-factor|mfa/i.test(message)) {
    return `These credentials need the code of an MFA device (${because}). Run the command at a terminal, which asks for it.`;
  }
  return profile === undefined
    ? `There are no AWS credentials (${because}). Log in, or name a profile with --profile.`
    : `There are no AWS credentials in the profile "${profile}" (${because}). Check its name with aws configure list-profiles, and log in to it.`;
};

/** Codes of Node for a certificate whose authority it does not know (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const unknownAuthority = [
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const wrongCertificate = [
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];
const noAnswer = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
];

const describeNetworkFailure = ({ code, hostname, address, port }: ErrorInfo): string | undefined => {
  if (typeof code !== 'string') return undefined;
  if (unknownAuthority.includes(code)) {
    return `The certificate is not trusted (${code}). Name its authority in NODE_EXTRA_CA_CERTS, such as that of a proxy of your company.`;
  }
  if (wrongCertificate.includes(code)) {
    return `The certificate is not valid (${code}). Check the address, and this machine's clock.`;
  }
  if (!noAnswer.includes(code)) return undefined;
  const host = [hostname ?? address, port].filter((part) => part !== undefined).join(':');
  const check = host.endsWith('.amazonaws.com')
    ? 'the region, the network and HTTPS_PROXY'
    : 'its address, and that it runs';
  return `${host === '' ? 'The network' : host} does not answer (${code}). Check ${host === '' ? 'it' : check}.`;
};

/** An error, and those that caused it, from the outermost. */
const withCauses = (error: Error): readonly Error[] =>
  error.cause instanceof Error ? [error, ...withCauses(error.cause)] : [error];

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
  const [network] = withCauses(error).flatMap((one) => describeNetworkFailure(one) ?? []);
  if (network !== undefined) return network;
  // Any other error of the SDK. Its message quotes names of resources, and no values.
  if (info.$metadata !== undefined) {
    return info.$metadata.httpStatusCode === undefined
      ? `AWS did not answer (${info.name}: ${info.message}).`
      : `AWS answered ${info.name}: ${info.message}`;
  }
  return undefined;
};

/** The lines to print for a failure, and its exit code. An unexpected one is printed with its stack and causes. */
export const describeFailure = (error: unknown, profile: string | undefined) => {
  if (error instanceof CliError) {
    return {
      lines: error.lines,
      facts: error.facts,
      code: error instanceof UsageError ? exitCodes.usage : exitCodes.failed,
    };
  }
  const sentence = explainFailure(error, profile);
  return { lines: sentence === undefined ? inspect(error).split('\n') : [sentence], code: exitCodes.failed };
};
