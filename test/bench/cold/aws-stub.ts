import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { selfSignedCertificate } from '../../support/programs/self-signed-certificate.ts';

/** A received request to AWS. `target`: its operation, such as `DynamoDB_20120810.UpdateItem`. */
export type AwsRequest = {
  readonly target: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** `body`: an object is sent as JSON, a text as XML, and bytes as they are. */
export type AwsAnswer = { readonly status: number; readonly body: object | string };

export type AwsStub = {
  /** For AWS_ENDPOINT_URL. */
  readonly endpoint: string;
  /** The certificate in PEM, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  /** Returns the requests so far in order, and removes them. */
  readonly take: () => readonly AwsRequest[];
  readonly close: () => Promise<void>;
};

/**
 * A local server that answers as AWS. It uses TLS as AWS does, because TLS takes time, and over plain HTTP the SDK loads
 * other modules of Node.
 */
export const startAwsStub = async (answer: (request: AwsRequest) => AwsAnswer): Promise<AwsStub> => {
  let requests: AwsRequest[] = [];
  const { key, cert } = selfSignedCertificate();
  const server = createServer({ key, cert }, async (incoming, outgoing) => {
    const request = {
      target: String(incoming.headers['x-amz-target'] ?? ''),
      url: `https://${incoming.headers.host}${incoming.url}`,
      headers: incoming.headers,
      body: (await buffer(incoming)).toString('utf8'),
    };
    requests.push(request);
    const { status, body } = answer(request);
    const answered = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    outgoing.writeHead(status, {
      'content-type': typeof body === 'string' ? 'application/xml' : 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(answered),
      'x-amzn-requestid': 'a-request-of-the-stub',
    });
    outgoing.end(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `https://127.0.0.1:${port}`,
    certificate: cert,
    take: () => {
      const taken = requests;
      requests = [];
      return taken;
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
};
