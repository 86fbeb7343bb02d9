import { createHash } from 'node:crypto';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import type { StoredResults } from '../../../lib/extraction/record.ts';
import type { Deployment } from '../aws/deployment.ts';
import { requireRecord, requireResults, s3Of } from '../aws/stores.ts';
import { CliError } from '../terminal/errors.ts';
import { describeView, operatorView } from '../terminal/operator-view.ts';
import type { CommandContext } from './command-context.ts';

export const get = async (
  extractionId: string,
  { results: file }: { readonly results?: string },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const record = await requireRecord(deployment, extractionId);
  if (file === undefined) {
    const view = operatorView(record);
    shell.print(describeView(view), view);
    return 0;
  }
  const stored = requireResults(record);
  const bytes = await download(deployment, stored);
  await shell.writePrivately(file, bytes);
  if (file === '-') {
    shell.hint(`${bytes.byteLength} bytes, SHA-256 as recorded.`);
    return 0;
  }
  shell.print(`${bytes.byteLength} bytes in ${file}, SHA-256 as recorded.`, {
    extractionId,
    file,
    bytes: bytes.byteLength,
    sha256: stored.sha256,
  });
  return 0;
};

const download = async (deployment: Deployment, { bucket, key, sha256 }: StoredResults) => {
  const { Body } = await s3Of(deployment)
    .send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    .catch((cause: unknown) => {
      if (!(cause instanceof NoSuchKey)) throw cause;
      throw new CliError(
        'The bucket no longer has these results: resultsRetentionDays have passed, or they were erased.',
        { cause },
      );
    });
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
  throw new CliError('The results in the bucket differ from the SHA-256 in the record. Nothing was written.');
};
