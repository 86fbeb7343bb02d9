import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect } from 'vitest';
import { findPython } from '../../../tools/local/emulator/find-python.ts';
import { repository } from '../../../tools/local/paths.ts';

/** Runs examples/consumer-python on batches, and returns its last totals. */
export const countInPython = async (batches: readonly (readonly DynamoDBRecord[])[]): Promise<unknown> => {
  const { executable } = await findPython();
  const { stdout, stderr } = spawnSync(
    executable,
    ['-B', 'count_outcomes.py', join(repository, 'docs/schemas/stream-record.json')],
    {
      cwd: join(repository, 'examples/consumer-python'),
      input: batches.map((Records) => `${JSON.stringify({ Records })}\n`).join(''),
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};
