import { AwsClient } from 'aws4fetch';
import { defined } from '../defined.ts';

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** The region and credentials that sign a request. If they are a function, it is called for each request. */
type Signer = {
  readonly region: string;
  readonly credentials: Credentials | (() => Promise<Credentials>);
};

export type SignedFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** There were no credentials to sign a request with, so nothing was sent. The cause is the error of the credentials' provider. */
export class NoCredentialsError extends Error {
  override readonly name = 'NoCredentialsError';

  constructor(cause: unknown) {
    super('There are no credentials to sign the request with.', { cause });
  }
}

/**
 * A fetch that signs each request for the IAM-authorized routes of API Gateway (SigV4, `execute-api`). It never retries. Throws
 * NoCredentialsError, and what fetch throws.
 */
export const signedFetch = ({ region, credentials }: Signer): SignedFetch => {
  const read = async () => (typeof credentials === 'function' ? credentials() : credentials);
  return async (url, init) => {
    const { accessKeyId, secretAccessKey, sessionToken } = await read().catch((error: unknown) => {
      throw new NoCredentialsError(error);
    });
    const aws = new AwsClient(
      defined({ accessKeyId, secretAccessKey, sessionToken, service: 'execute-api', region, retries: 0 }),
    );
    return aws.fetch(url, init);
  };
};
