import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { AwsClient } from 'aws4fetch';
import { defined } from '../../../lib/defined.ts';
import type { ClientConfig } from './deployment.ts';

/** A pipe as it is now. `RUNNING` is the only state in which it reads its source. */
export type Pipe = {
  readonly state: string;
  readonly reason?: string;
  /** Where it sends what it abandons. */
  readonly deadLetterQueue: string;
};

type Described = {
  readonly CurrentState?: string;
  readonly StateReason?: string;
  readonly SourceParameters?: {
    readonly DynamoDBStreamParameters?: { readonly DeadLetterConfig?: { readonly Arn?: string } };
  };
};

/**
 * Calls DescribePipe, without the SDK's client of EventBridge Pipes, of which this is the only call
 * (https://docs.aws.amazon.com/eventbridge/latest/pipes-reference/API_DescribePipe.html). Throws an error with AWS's name and
 * message where AWS refuses.
 */
export const readPipe = async (client: ClientConfig, name: string, send = fetch): Promise<Pipe> => {
  const { config } = new CloudFormationClient(client);
  const [region, { accessKeyId, secretAccessKey, sessionToken }] = await Promise.all([
    config.region(),
    config.credentials(),
  ]);
  const aws = new AwsClient(
    defined({ accessKeyId, secretAccessKey, sessionToken, service: 'pipes', region }),
  );
  const endpoint = client.endpoint ?? `https://pipes.${region}.amazonaws.com`;
  const answer = await send(await aws.sign(`${endpoint}/v1/pipes/${encodeURIComponent(name)}`));
  if (!answer.ok) throw await refusalOf(answer);
  const { CurrentState = 'unknown', StateReason, SourceParameters } = (await answer.json()) as Described;
  const arn = SourceParameters?.DynamoDBStreamParameters?.DeadLetterConfig?.Arn ?? '';
  return defined({ state: CurrentState, reason: StateReason, deadLetterQueue: arn.split(':').at(-1) ?? '' });
};

/** An error as those of the SDK, which `explainFailure` explains. */
const refusalOf = async (answer: Response): Promise<Error> => {
  const [name = ''] = (answer.headers.get('x-amzn-errortype') ?? `HTTP ${answer.status}`).split(':');
  const message = await answer
    .json()
    .then((body) => (body as { readonly message?: string }).message)
    .catch(() => undefined);
  return Object.assign(new Error(message ?? name), { name, $metadata: { httpStatusCode: answer.status } });
};
