import { LambdaClient } from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import { deadLettersIn } from '../aws/dead-letters.ts';
import { ReconcileFailed, reconcileNow, sweepNow } from '../aws/reconcile-function.ts';
import type { Context } from '../context.ts';
import { explainFailure } from '../explain-failure.ts';
import { redriveLetters } from '../redrive-letters.ts';

/** Does again whatever the dead-letter queue holds. */
export const redrive = async ({ shell, connect }: Context): Promise<number> => {
  const system = await connect();
  const lambda = new LambdaClient(system.client);
  shell.wait('reading the queue');
  const redriven = await redriveLetters({
    letters: deadLettersIn(
      // The queue's address as CloudFormation has it; the SDK would else go to that host, whatever the endpoint.
      new SQSClient({ ...system.client, useQueueUrlAsEndpoint: !system.isEmulated }),
      system.output('DeadLetterQueueUrl'),
    ),
    invoke: async (work) => {
      if (work.trigger === 'sweep') await sweepNow(lambda, system.output('SweepFunctionName'));
      else await reconcileNow(lambda, system.output('ReconcileFunctionName'), work);
    },
    onDone: ({ id }, work) => {
      const what = work.trigger === 'sweep' ? 'swept' : `${work.extractionId} reconciled`;
      shell.print(`${id}  ${what}`, { messageId: id, outcome: 'done', ...work });
    },
    onFailed: ({ id }, error) => {
      const why = error instanceof ReconcileFailed ? error.message : (explainFailure(error) ?? String(error));
      shell.print(`${id}  failed again and stays: ${why}`, { messageId: id, outcome: 'failed', why });
    },
    onUnknown: ({ id }) => {
      shell.print(`${id}  unknown, and stays`, { messageId: id, outcome: 'unknown' });
    },
  });
  shell.wait(undefined);
  const { done, failed, unknown } = redriven;
  shell.print(`${done} done and deleted, ${failed} failed again, ${unknown} unknown.`, redriven);
  return failed + unknown === 0 ? 0 : 1;
};
