import { AwsClient } from 'aws4fetch';
import { defined } from '../defined.ts';

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** The region that requests are signed for, and the credentials: a function is asked again for each request. */
type Signer = {
  readonly region: string;
  readonly credentials: Credentials | (() => Promise<Credentials>);
};

export type SignedFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A fetch that signs each request for the IAM-authorized routes of API Gateway (SigV4, `execute-api`). It never retries. */
export const signedFetch = ({ region, credentials }: Signer): SignedFetch => {
  return async (url, init) => {
    const current = typeof credentials === 'function' ? await credentials() : credentials;
    const { accessKeyId, secretAccessKey, sessionToken } = current;
    const aws = new AwsClient(
      defined({ accessKeyId, secretAccessKey, sessionToken, service: 'execute-api', region, retries: 0 }),
    );
    return aws.fetch(url, init);
  };
};
