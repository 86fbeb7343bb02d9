import { AwsClient } from 'aws4fetch';
import { defined } from '../../defined.ts';

/** The credentials that requests are signed with, and the region they are for. */
export type Signer = {
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
};

/** A fetch that signs each request for the IAM-authorized routes of API Gateway (SigV4, `execute-api`). It never retries. */
export const signedFetch = ({
  region,
  credentials: { accessKeyId, secretAccessKey, sessionToken },
}: Signer): ((url: string, init?: RequestInit) => Promise<Response>) => {
  const aws = new AwsClient(
    defined({ accessKeyId, secretAccessKey, sessionToken, service: 'execute-api', region, retries: 0 }),
  );
  return (url, init) => aws.fetch(url, init);
};
