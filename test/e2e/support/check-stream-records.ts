import type { DynamoDBRecord } from 'aws-lambda';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { closedSchemaViolations } from '../../unit/docs/contract-schemas.ts';
import type { Deployed } from '../deployment.ts';
import { streams } from '../leaks/kept-by-aws.ts';

/** A record of the suite does not fit docs/schemas. */
class StreamRecordsDoNotFit extends Error {
  override readonly name = 'StreamRecordsDoNotFit';
}

/** Tests also put records of other schemas, to see that a reader refuses them. */
const isOfThisVersion = ({ dynamodb: { NewImage, OldImage } = {} }: DynamoDBRecord): boolean =>
  (NewImage ?? OldImage)?.schemaVersion?.N === '1';

/** Of the suite's deployment, and of the one that embed.test.ts deploys. The name of a table ends in a suffix of CloudFormation. */
const isOfExtractions = (name: string): boolean => /^\S*StorageExtractions\S* /.test(name);

/**
 * Validates every record that the suite has put on a stream with the schema of its kind. Attributes and values that the
 * schemas do not know are refused. Throws StreamRecordsDoNotFit.
 */
export const checkStreamRecords = async ({ client }: Pick<Deployed, 'client'>): Promise<void> => {
  const violations = new Set<string>();
  const kinds = new Map<string, number>();
  for await (const { name, bytes } of streams(client)) {
    if (!isOfExtractions(name)) continue;
    for (const record of (JSON.parse(String(bytes)) as DynamoDBRecord[]).filter(isOfThisVersion)) {
      const { kind } = decodeExtractionEvent(record);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const found =
        kind === 'not-ours'
          ? ['is not decoded']
          : closedSchemaViolations(`stream-record.json#/$defs/${kind}`, record);
      for (const what of found)
        violations.add(`${kind} of ${record.dynamodb?.Keys?.extractionId?.S}: ${what}`);
    }
  }
  if (kinds.size === 0) violations.add('The suite put no record on a stream.');
  if (violations.size > 0) throw new StreamRecordsDoNotFit(`\n${[...violations].slice(0, 20).join('\n')}`);
  console.info(
    `Records that fit docs/schemas: ${[...kinds].map(([kind, times]) => `${kind} ${times}`).join(', ')}.`,
  );
};
