/** What a failure says of itself, as far as the SDK and Node have it. */
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

const denied = ({ message }: ErrorInfo): string => {
  const [, who, action, resource] =
    /^(?:User: (\S+) )?.*not authorized to perform: ([\w-]+:[\w*]+)(?: on resource: (\S+))?/.exec(message) ??
    [];
  if (action === undefined) return `AWS does not allow it: ${message}`;
  const whom = who === undefined ? 'you' : who;
  return `AWS does not allow ${whom} to ${action}${resource === undefined ? '' : ` on ${resource}`}: that right is missing (docs/cli.md lists them by command).`;
};

/**
 * A sentence for a failure that can be expected of AWS and of the network between, or undefined for one that cannot:
 * that is a bug of ours, whose stack is worth having.
 */
export const explainFailure = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  const told: ErrorInfo = error;
  if (isDenial(told)) return denied(told);
  switch (told.name) {
    case 'CredentialsProviderError':
    case 'TokenProviderError':
      return `There are no AWS credentials (${told.message.replace(/\.$/, '')}): log in, or name a profile with --profile.`;
    case 'ExpiredToken':
    case 'ExpiredTokenException':
      return 'The AWS credentials have expired: log in again.';
    case 'InvalidClientTokenId':
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
    case 'SignatureDoesNotMatch':
    case 'InvalidAccessKeyId':
      return `AWS does not take these credentials (${told.name}): are they of this account, and is the clock right?`;
  }
  if (told.message === 'Region is missing') return 'Which region? Say --region <region>, or set AWS_REGION.';
  switch (told.code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'EAI_AGAIN': {
      const where = [told.hostname ?? told.address, told.port].filter((part) => part !== undefined).join(':');
      return `${where === '' ? 'The network' : where} does not answer (${String(told.code)}).`;
    }
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `The certificate is not trusted (${String(told.code)}): name its authority in NODE_EXTRA_CA_CERTS.`;
  }
  // Any other answer of AWS: its own words, which quote names and no values.
  if ('$metadata' in error) return `AWS answered ${told.name}: ${told.message}`;
  return undefined;
};
