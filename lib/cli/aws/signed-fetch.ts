import { AwsClient } from 'aws4fetch';

/** Whose signature a request carries, and where. */
export type Signer = {
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
};

/**
 * A fetch that signs every request for API Gateway (SigV4, service `execute-api`), for IAM-authorized routes. The URL
 * is signed as it is called. No retries: what the API answers is what the caller gets.
 */
export const signedFetch = ({
  region,
  credentials: { accessKeyId, secretAccessKey, sessionToken },
}: Signer): ((url: string, init?: RequestInit) => Promise<Response>) => {
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: 'execute-api',
    region,
    retries: 0,
  });
  return (url, init) => aws.fetch(url, init);
};
