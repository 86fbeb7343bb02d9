import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { guardReads } from '../../extraction/guard-reads.ts';
import { parseTimings, type Timings } from '../../extraction/parse-timings.ts';
import { type Reading, readingOfExtraction, readTaskWith } from '../../extraction/reading.ts';
import { type ReconcileCaller, type ReconcileResult, reconcile } from '../../extraction/reconcile.ts';
import type { ConsentExtraction, Extraction } from '../../extraction/record.ts';
import type { ExtractionStore } from '../../extraction/store.ts';
import { journal } from '../../observability/observability.ts';
import { readExtraction } from '../../provider/extractions/read-extraction.ts';
import { readTask } from '../../provider/tasks/read-task.ts';
import { withSession } from '../../provider/tokens/with-session.ts';
import { withTaskToken } from '../../provider/tokens/with-task-token.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { dynamoExtractionStore } from '../dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../dynamo-task-store.ts';
import { unsealTargetWith } from '../seal.ts';
import { readExecutionInputOf } from '../step-functions.ts';
import { storeResultsIn } from '../store-results.ts';
import { breakersFromEnvironment } from './breakers-from-environment.ts';
import { patientClient } from './client-options.ts';
import { requiredVariable } from './environment.ts';
import { providerFromEnvironment, taskTokensFromEnvironment } from './provider-from-environment.ts';

/** `reconcileOne`, and what the sweep needs besides. */
export type Reconciler = {
  /**
   * Reconciles one extraction and logs the result. `sealedTarget` is the target of an extraction by consent; without
   * it, the execution's input is read. Throws what the stores, Step Functions or KMS throw.
   */
  readonly reconcileOne: (
    extractionId: string,
    caller: ReconcileCaller,
    sealedTarget?: string | null,
  ) => Promise<ReconcileResult>;
  readonly extractions: ExtractionStore;
  readonly timings: Timings;
  readonly connection: Connection;
};

/**
 * Builds `reconcile` from the environment, with its AWS clients and the provider. reconcile-extraction uses it for one
 * extraction, and sweep-extractions for many.
 */
export const reconcilerFromEnvironment = (now: () => Date): Reconciler => {
  const database = new DynamoDBClient(patientClient);
  const secrets = new SecretsManagerClient(patientClient);
  const breakers = breakersFromEnvironment(now);
  const { connection, sessions } = providerFromEnvironment(secrets, {
    now,
    alsoCountLoginsFor: breakers.starts,
    maxAnswerBytes: Number(requiredVariable('RESULTS_MAX_BYTES')),
  });
  const taskTokens = taskTokensFromEnvironment(secrets, connection, now);
  const readExecutionInput = readExecutionInputOf(
    new SFNClient(patientClient),
    requiredVariable('STATE_MACHINE_ARN'),
  );
  const unsealTarget = unsealTargetWith(new KMSClient(patientClient), requiredVariable('SEAL_KEY_ARN'));

  /**
   * The target is sealed in the execution's input. The machine passes it along, because DescribeExecution allows only
   * 15 polls a second (docs/performance.md, "Ceilings"). The rule and the sweep read it from the execution.
   */
  const readByConsent = async (
    { extractionId, variant }: ConsentExtraction,
    taskId: string,
    sealedTarget: string | null,
  ): Promise<Reading> => {
    const sealed = sealedTarget ?? (await readExecutionInput(extractionId)).sealed;
    const { target } = await unsealTarget(extractionId, sealed);
    return readingOfExtraction(
      await withTaskToken(taskTokens, target, (token) =>
        readExtraction(connection, token, { variant, taskId }),
      ),
    );
  };

  const readByCredentials = (taskId: string): Promise<Reading> =>
    withSession(sessions, (token) => readTaskWith(() => readTask(connection, token, taskId)));

  const deps = {
    extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
    tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
    storeResults: storeResultsIn(new S3Client(patientClient), requiredVariable('RESULTS_BUCKET')),
    now,
    timings: parseTimings(requiredVariable('TIMINGS')),
    journal,
  };

  const reconcileOne = async (
    extractionId: string,
    caller: ReconcileCaller,
    sealedTarget: string | null = null,
  ): Promise<ReconcileResult> => {
    const read = (record: Extraction, taskId: string) =>
      record.method === 'consent' ? readByConsent(record, taskId, sealedTarget) : readByCredentials(taskId);
    const reconciled = await reconcile(extractionId, caller, {
      ...deps,
      read: guardReads(read, { ...deps, breaker: breakers.reads }),
    });
    const record = reconciled.kind === 'gone' ? undefined : reconciled.record;
    journal.info('Reconcile finished.', {
      extractionId,
      caller: caller.kind,
      outcome: reconciled.kind,
      ...(reconciled.kind === 'not-yet' ? { why: reconciled.why } : {}),
      ...(record === undefined ? {} : { status: record.status, taskId: record.taskId }),
    });
    return reconciled;
  };

  return { reconcileOne, extractions: deps.extractions, timings: deps.timings, connection };
};
