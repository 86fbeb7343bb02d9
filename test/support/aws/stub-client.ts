/**
 * An AWS SDK client. `answer` answers each command or throws, and `sent` has the commands. The SDK's paginators take instances of the
 * client's class only, which is `of`.
 */
export const stubClient = <Client>(
  answer: (command: { readonly input: Record<string, unknown> }) => unknown,
  of: { readonly prototype: object } = Object,
) => {
  const sent: { readonly name: string; readonly input: Record<string, unknown> }[] = [];
  const own = {
    send: async (command: { readonly input: Record<string, unknown> }) => {
      sent.push({ name: command.constructor.name, input: command.input });
      return answer(command);
    },
  };
  return { client: Object.setPrototypeOf(own, of.prototype) as Client, sent };
};

/** Throws the error. For places that need an expression. */
export const fail = (error: unknown): never => {
  throw error;
};
