import { finishedStatus, inProgressStatuses } from '../provider/assumptions.ts';
import type { ExtractionAnswer } from '../provider/extractions/read-extraction.ts';
import { failureReason } from './failure-reason.ts';
import type { Reading } from './reading.ts';

/**
 * What an extraction by consent says of itself. "Final: `success`"; the v2 variant has no status, and its 200
 * says that it has finished. Data of an unexpected form do not keep it from having ended.
 */
export const readingOfExtraction = (answer: ExtractionAnswer): Reading => {
  if (answer.kind === 'in-progress') return { kind: 'running', known: true };
  if (answer.kind === 'failed') {
    return { kind: 'ended', taskStatus: 'FAILED', reason: failureReason(answer), expected: true };
  }
  if (answer.kind === 'too-large') return { kind: 'too-large', taskStatus: 'COMPLETED' };
  const { taskStatus, data, bytes } = answer;
  if (taskStatus !== undefined && taskStatus !== finishedStatus) {
    return { kind: 'running', known: inProgressStatuses.includes(taskStatus) };
  }
  return { kind: 'ended', taskStatus: 'COMPLETED', results: bytes, expected: Array.isArray(data) };
};
