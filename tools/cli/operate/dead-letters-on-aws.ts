import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Deployment } from '../aws/deployment.ts';
import { queueClient } from '../aws/queues.ts';
import { deadLettersIn } from './dead-letters.ts';
import { reconcileNow } from './invoke-functions.ts';
import type { RedriveDeps } from './redrive-letters.ts';

/** The dead letters of a deployment, and how the extraction of one is reconciled. */
export const deadLettersOnAws = (deployment: Deployment): Pick<RedriveDeps, 'letters' | 'reconcile'> => {
  const { client, output } = deployment;
  const lambda = new LambdaClient(client);
  return {
    letters: deadLettersIn(queueClient(deployment), output('DeadLetterQueueUrl')),
    reconcile: async (extractionId) => {
      await reconcileNow(lambda, output('ReconcileFunctionName'), { trigger: 'operator', extractionId });
    },
  };
};
