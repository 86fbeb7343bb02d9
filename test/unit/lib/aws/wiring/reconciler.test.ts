import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { reconcilerFromEnvironment } from '../../../../../lib/aws/wiring/reconciler.ts';
import { capturedLog } from '../../../../support/captured-log.ts';
import { at, extractionIn, id, timings } from '../../../../support/extraction-fixtures.ts';

capturedLog();

type Command = {
  readonly input: { readonly TableName?: string; readonly Item?: { readonly name?: { readonly S: string } } };
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** The address of a port that refuses connections. */
const refusing = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};

test('a failed login of a read is counted for the breaker of starts, too', async () => {
  const environment = {
    AWS_REGION: 'eu-west-1',
    BREAKER: JSON.stringify({
      failures: 5,
      openSeconds: 30,
      maxOpenSeconds: 300,
      probeSeconds: 60,
      slowCallSeconds: 5,
    }),
    BREAKERS_TABLE: 'Breakers',
    EXTRACTIONS_TABLE: 'Extractions',
    PROVIDER_API_KEY_SECRET: 'provider-api-key',
    PROVIDER_BASE_URL: await refusing(),
    PROVIDER_TIMEOUTS: JSON.stringify({ connect: 5_000, total: 20_000 }),
    RECONCILE_QUEUE_URL: 'https://queue.example',
    REQUESTS_TABLE: 'Requests',
    RESULTS_BUCKET: 'results',
    RESULTS_MAX_BYTES: '1024',
    SEAL_KEY_ARN: 'arn:aws:kms:eu-west-1:111122223333:key/1',
    SESSION_MINUTES: '50',
    TASKS_TABLE: 'Tasks',
    TASK_TOKEN_MINUTES: '5',
    TIMINGS: JSON.stringify(timings),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const items: Readonly<Record<string, object>> = {
    Extractions: extractionIn('RUNNING'),
    Tasks: { taskId: 'task-1', extractionId: id },
  };
  const counted = new Set<string | undefined>();
  vi.spyOn(SecretsManagerClient.prototype, 'send').mockImplementation(async () => ({ SecretString: 'key' }));
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(async (command: unknown) => {
    const { input } = command as Command;
    if (input.Item !== undefined) counted.add(input.Item.name?.S);
    const item = items[input.TableName ?? ''];
    return item === undefined ? {} : { Item: marshall(item) };
  });

  const { reconcileOne } = reconcilerFromEnvironment(() => at(100));
  expect(await reconcileOne(id, { kind: 'machine' })).toMatchObject({ why: 'ProviderUnreachable' });
  expect(counted).toEqual(new Set(['reads', 'starts']));
});
