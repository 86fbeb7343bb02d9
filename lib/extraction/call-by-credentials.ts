import type { TaskRequest } from '../provider/tasks/task-request.ts';
import type { Tokens } from '../provider/tokens/tokens.ts';
import type { CredentialsExtraction } from './record.ts';
import type { SealedCredentialsData } from './sealed-request-data.ts';
import type { StartCall } from './start-call.ts';

/** The most deliveries that the document allows ("Events", rule 2). */
const webhookRetries = 5;

const only = (token: string): Tokens => ({ current: async () => token, drop: () => undefined });

/** "Start task (v2)": of what was recorded, with the credentials unsealed and under a session token. */
export const callByCredentials = (
  { entity, actions }: CredentialsExtraction,
  { credentials, sessionToken }: SealedCredentialsData,
  deps: {
    readonly sessions: Tokens;
    readonly startTask: (sessionToken: string, request: TaskRequest) => Promise<string>;
  },
): StartCall => ({
  tokens: sessionToken === undefined ? deps.sessions : only(sessionToken),
  renewable: sessionToken === undefined,
  post: (token) =>
    deps.startTask(token, {
      entity,
      credentials,
      actions,
      webhook: { enable: true, retries: webhookRetries },
    }),
});
