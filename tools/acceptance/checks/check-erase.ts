import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { erase } from '../../../lib/extraction/operate/erase.ts';
import { eraseOnAws } from '../../cli/operate/erase-on-aws.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import { extract, isDone, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

/** Between two tries while the extraction has closed too recently, in milliseconds. */
const retryEveryMs = 2_000;

export const eraseForGood: Check = {
  id: 'erase',
  title: 'An erased extraction is gone from the tables, from the bucket and from the API',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: ({ settings }) => settings.timeout + 120,
  run: async (context) => {
    const { deployment, settings, client, now } = context;
    const extractionId = await extract(context, requestOf('erase', {}));
    await readUntil(context, extractionId, 'COMPLETED and collected', isDone);
    const removals = eraseOnAws(
      {
        dynamo: new DynamoDBClient(client),
        s3: new S3Client({ ...client, forcePathStyle: deployment.isEmulated }),
        extractionsTable: deployment.output('ExtractionsTableName'),
        tasksTable: deployment.output('TasksTableName'),
        requestsTable: deployment.output('RequestsTableName'),
        resultsBucket: deployment.output('ResultsBucketName'),
      },
      now,
    );
    const { timeout: reconcileTimeout, timings } = settings;
    const deps = { ...removals, reconcileTimeout, recordRetention: timings.recordRetention };
    let result = await erase(extractionId, deps);
    while (result.kind === 'too-fresh' || result.kind === 'open') {
      context.waitFor(
        result.kind === 'open'
          ? `extraction ${extractionId} to close`
          : `${result.until}, before which ${extractionId} cannot be erased`,
      );
      await context.sleep(retryEveryMs);
      result = await erase(extractionId, deps);
    }
    if (result.kind !== 'erased') {
      const what = result.kind === 'remains' ? `: ${result.what.join(', ')} remain` : '';
      throw new Unmet(`The erasure of ${extractionId} ended as ${result.kind}${what}.`);
    }
    const { status } = await context.api.call('GET', `/extractions/${extractionId}`);
    if (status !== 404)
      throw new Unmet(`GET /extractions/${extractionId} is answered ${status} after its erasure.`);
    return passed(`${result.objects} object, the task and the record are gone; the API answers 404`);
  },
};
