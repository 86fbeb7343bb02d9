import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { ExecutionInput } from '../extraction/api/create-extraction.ts';
import type { StartError } from '../extraction/causes.ts';
import type { WakeOutcome } from '../extraction/store.ts';

/** The ARN of an extraction's execution. Its name is the extractionId. */
export const executionArn = (stateMachineArn: string, extractionId: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${extractionId}`;

/** AWS refuses calls for now, because there are too many. HTTP functions return 503 with `Retry-After`. The message may be logged. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** Whether Step Functions refused because of too many calls a second, or too many open executions. */
const isThrottle = (error: unknown): boolean =>
  error instanceof Error && /^(ThrottlingException|ExecutionLimitExceeded)$/.test(error.name);

/** The first try may fail, if the connection broke while Lambda had frozen the function. */
const maxTries = 4;

/**
 * Starts the execution of an extraction. A throttled call is not repeated, and throws Throttled. Otherwise, above the quota, every request
 * would hold its function for seconds and use up the concurrency of the account. So `client` must make one try. A name stays taken for 90
 * days, so an execution that exists counts as success. It belongs to this record, or to an earlier one under the same id. In the second
 * case, its `requestId` keeps it from starting anything for this record
 * (https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html).
 */
export const startExecutionOf =
  (client: SFNClient, stateMachineArn: string) =>
  async (input: ExecutionInput): Promise<void> => {
    const start = { stateMachineArn, name: input.extractionId, input: JSON.stringify(input) };
    for (let tries = 1; ; tries += 1) {
      try {
        await client.send(new StartExecutionCommand(start));
        return;
      } catch (error) {
        if (error instanceof ExecutionAlreadyExists) return;
        if (isThrottle(error))
          throw new Throttled('Step Functions throttles StartExecution.', { cause: error });
        if (tries === maxTries) throw error;
      }
    }
  };

const isNotAwaited = (error: unknown): boolean =>
  error instanceof TaskTimedOut || error instanceof TaskDoesNotExist;

/**
 * Answers a callback token with success. From StartTask, the execution then ends. From InLine, it returns to StartTask. The output contains
 * no outcome.
 */
export const wakeMachine =
  (client: SFNClient) =>
  async (callbackToken: string, extractionId: string): Promise<WakeOutcome> => {
    try {
      await client.send(
        new SendTaskSuccessCommand({ taskToken: callbackToken, output: JSON.stringify({ extractionId }) }),
      );
      return 'woken';
    } catch (error) {
      if (isNotAwaited(error)) return 'gone';
      if (error instanceof InvalidToken) return 'invalid-token';
      throw error;
    }
  };

/**
 * Fails the state StartTask with an error name. The name must not begin with the reserved `States.`
 * (https://states-language.net/spec.html#errors). `cause` is a code or a fixed sentence, because the execution's history shows it. A
 * callback token that is no longer awaited is ignored.
 */
export const failTask =
  (client: SFNClient) =>
  async (callbackToken: string, error: StartError, cause: string): Promise<void> => {
    try {
      await client.send(new SendTaskFailureCommand({ taskToken: callbackToken, error, cause }));
    } catch (failure) {
      if (!isNotAwaited(failure)) throw failure;
    }
  };
