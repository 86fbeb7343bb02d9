import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { v7 as newUuid } from 'uuid';
import type { Extraction } from '#lib/extraction/record.ts';
import { closedExtraction, extractionIn } from '../../support/data/extraction-fixtures.ts';
import { requestedBy, resultsBytes } from '../assumptions.ts';
import type { Item } from '../units/item-bytes.ts';

/** One of so many records is open. */
export const openOneOf = 100;

/** A record of a backup, as long as on AWS: collected and closed, or running. */
const backupRecord = (isOpen: boolean): Extraction => {
  const [extractionId, requestId, attemptId, taskId] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const fields = { extractionId, requestId, attemptId, taskId, requestedBy } as const;
  if (isOpen) return extractionIn('RUNNING', fields);
  const results = {
    bucket: 'cosecha-prod-results-123456789012',
    key: `${extractionId}.json`,
    bytes: resultsBytes,
    sha256: 'f'.repeat(64),
  };
  const actionResults = [{ id: 'product-balance', status: 'COMPLETED' }];
  const collected = { results, actionResults, collectedAt: '2026-03-01T12:00:31.000Z', expiresAt: 2 ** 33 };
  return closedExtraction({ ...extractionIn('COMPLETED', fields), ...collected });
};

/** Its item, as DynamoDB sends it. */
export const backupItem = (isOpen: boolean) =>
  marshall(backupRecord(isOpen), { removeUndefinedValues: true }) as Record<
    string,
    AttributeValue & Item[string]
  >;
