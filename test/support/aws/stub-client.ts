import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';

/** An AWS SDK client. `answer` answers each command or throws, and `sent` has the commands. */
export const stubClient = <Client>(
  answer: (command: { readonly input: Record<string, unknown> }) => unknown,
) => {
  const sent: { readonly name: string; readonly input: Record<string, unknown> }[] = [];
  const client = {
    send: async (command: { readonly input: Record<string, unknown> }) => {
      sent.push({ name: command.constructor.name, input: command.input });
      return answer(command);
    },
  } as unknown as Client;
  return { client, sent };
};

/** Throws the error. For places that need an expression. */
export const fail = (error: unknown): never => {
  throw error;
};

/** A CloudWatch Logs client with these answers. The SDK's paginators take instances of the client's class only. */
export const stubLogsClient = (answer: () => unknown) => {
  const { client, sent } = stubClient<CloudWatchLogsClient>(answer);
  return { client: Object.setPrototypeOf(client, CloudWatchLogsClient.prototype) as typeof client, sent };
};
