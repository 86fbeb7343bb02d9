/** A client of the AWS SDK that answers each command by `answer`, which may throw, and keeps what it was sent. */
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

/** Throws it: for where a statement is not allowed. */
export const fail = (error: unknown): never => {
  throw error;
};
