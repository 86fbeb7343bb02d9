import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';

/** Invokes the dispatcher without waiting for its end (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async.html). */
export const invokeDispatcherOf = (client: LambdaClient, functionName: string) => async (): Promise<void> => {
  await client.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event' }));
};
