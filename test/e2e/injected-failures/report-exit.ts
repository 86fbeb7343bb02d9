/**
 * Reports to Step Functions that the function is about to be killed. On AWS, Lambda answers `Runtime.ExitError` for a
 * process that exits, and the state fails with it
 * (https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html). The emulator does not fail a state that
 * waits for its callback, which would then wait for its timeout.
 */
export const reportExit = async (event: unknown): Promise<void> => {
  const { callbackToken } = (event ?? {}) as { readonly callbackToken?: string };
  if (callbackToken === undefined) return;
  const { env } = process;
  const { AwsClient } = await import('aws4fetch');
  const client = new AwsClient({
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
    ...(env.AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: env.AWS_SESSION_TOKEN }),
    service: 'states',
    region: env.AWS_REGION ?? '',
  });
  const answer = await client.fetch(env.AWS_ENDPOINT_URL ?? '', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'AWSStepFunctions.SendTaskFailure',
    },
    body: JSON.stringify({
      taskToken: callbackToken,
      error: 'Runtime.ExitError',
      cause: 'A failure injected by the test.',
    }),
  });
  // TaskDoesNotExist: the token was answered already.
  if (!answer.ok && !(await answer.text()).includes('TaskDoesNotExist'))
    console.error(`The exit could not be reported: ${answer.status}.`);
};
