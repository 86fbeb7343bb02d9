import { join } from 'node:path';
import { aroundEach, inject } from 'vitest';
import { saveFunctionLogs } from '../../../tools/local/save-function-logs.ts';
import { describeRecords, extractionsOfTest } from './records.ts';

const { client, directory } = inject('cosecha');

/** An extraction's stream records and function logs, for the error message of a failed test. */
const explain = async (extractionId: string): Promise<string> => {
  const file = join(directory, `failed-${extractionId}.log`);
  await saveFunctionLogs({ client }, file, extractionId);
  return `Extraction ${extractionId}. ${describeRecords(extractionId)}\nIts function logs: ${file}`;
};

aroundEach(async (runTest, { task }) => {
  const extractions = new Set<string>();
  await extractionsOfTest.run(extractions, runTest);
  const errors = task.result?.state === 'fail' ? (task.result.errors ?? []) : [];
  const [last] = errors.slice(-1);
  if (last === undefined) return;
  const explained = await Promise.all([...extractions].map(explain));
  last.message = [last.message, ...explained].join('\n\n');
});
