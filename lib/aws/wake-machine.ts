import {
  InvalidToken,
  SendTaskSuccessCommand,
  type SFNClient,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { WakeOutcome } from '../extraction/record-delivery.ts';

/** Answers a task token, so that the machine goes on to Reconcile. The token only wakes; it decides nothing. */
export const wakeMachine =
  (client: SFNClient) =>
  async (callbackToken: string, extractionId: string): Promise<WakeOutcome> => {
    try {
      await client.send(
        new SendTaskSuccessCommand({ taskToken: callbackToken, output: JSON.stringify({ extractionId }) }),
      );
      return 'woken';
    } catch (error) {
      if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist) return 'gone';
      if (error instanceof InvalidToken) return 'invalid-token';
      throw error;
    }
  };
