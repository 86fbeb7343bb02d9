import { SendTaskFailureCommand, type SFNClient, TaskDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn';

/**
 * Fails the state StartTask under a name that the machine retries. `cause` stands in the execution's history,
 * so it is a fixed sentence and never carries a value. A token that is no longer awaited is nobody's loss.
 */
export const failTask =
  (client: SFNClient) =>
  async (callbackToken: string, error: string, cause: string): Promise<void> => {
    try {
      await client.send(new SendTaskFailureCommand({ taskToken: callbackToken, error, cause }));
    } catch (failure) {
      if (failure instanceof TaskTimedOut || failure instanceof TaskDoesNotExist) return;
      throw failure;
    }
  };
