import { createHash } from 'node:crypto';
import type { StoredResults } from '../../../lib/extraction/record.ts';
import type { Deployment } from '../aws/deployment.ts';
import { findResults, requireRecord, requireResults, s3Of } from '../aws/stores.ts';
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

const download = async (deployment: Deployment, stored: StoredResults) => {
  const bytes = await (await findResults(s3Of(deployment), stored))?.transformToByteArray();
  if (bytes === undefined) {
    throw new CliError(
      'The bucket no longer has these results: resultsRetentionDays have passed, or they were erased.',
    );
  }
  if (createHash('sha256').update(bytes).digest('hex') === stored.sha256) return bytes;
  throw new CliError('The results in the bucket differ from the SHA-256 in the record. Nothing was written.');
};
