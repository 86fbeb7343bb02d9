/** @module-tag slow */

import { describe, expect, test } from 'vitest';
import type { Story } from '../../tools/cli/explain/story.ts';
import { eventually } from '../support/eventually.ts';
import { provider } from './support/call-extractions.ts';
import { stopExecution } from './support/execution.ts';
import { closed } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';
import { endWebhookWait, quietlyRunning, settledByWebhook } from './support/running-extractions.ts';

/** The story of an extraction, as the operator with the documented policy gets it. */
const explained = async (extractionId: string): Promise<Story> => {
  const ran = await cosecha(['explain', extractionId, '--json']);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return factsOf(ran)[0] as Story;
};

const headlineOf = async (extractionId: string): Promise<string> => (await explained(extractionId)).headline;

// With its day, if that is another one.
const time = String.raw`(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\dZ`;

// One at a time: each command is a process, and other test files run at the same time.
describe('explain', { concurrent: false }, () => {
  test('merges what every place knows about an extraction that the webhook settled', async () => {
    const { extractionId, taskId } = await settledByWebhook();
    await closed(extractionId);
    const { status, headline, lines, notShown } = await explained(extractionId);
    expect(notShown).toEqual([]);
    expect(status).toBe('COMPLETED');
    expect(headline).toMatch(
      new RegExp(
        `^COMPLETED at ${time}, reported by the webhook. Its results, \\d+ bytes, were collected at ${time}.$`,
      ),
    );
    expect(lines).toEqual(lines.toSorted((one, other) => one.at.localeCompare(other.at)));
    expect(lines.map(({ source }) => source)).toEqual(
      expect.arrayContaining([
        'API',
        'request-extraction',
        'Step Functions',
        'start-task',
        'receive-webhook',
      ]),
    );
    expect(lines.map(({ what }) => what)).toContain(
      `Wrote RUNNING: the provider accepted the start as task ${taskId}.`,
    );
  });

  test('names what a running extraction waits for, before and after the wait for its webhook', async () => {
    const { extractionId, taskId } = await quietlyRunning();
    expect(await headlineOf(extractionId)).toMatch(
      new RegExp(
        // A delivery of another test may have been refused meanwhile, which the headline counts behind it.
        `^Waits for the provider's webhook until ${time}; then the machine polls every .+ until ${time}\\.`,
      ),
    );
    await endWebhookWait(extractionId);
    await eventually(async () =>
      expect(await headlineOf(extractionId)).toMatch(
        // It had not ended the wait, if one of another test was refused: it may have been of this task.
        new RegExp(
          `^No webhook (was recorded|had ended its wait) by ${time}, so the machine polls: \\d+ polls? so far`,
        ),
      ),
    );
    await stopExecution(extractionId);
    await eventually(async () => expect(await headlineOf(extractionId)).toContain('has aborted'));
    // Or it is polled every second until the suite ends.
    await provider.finish(taskId);
    await closed(extractionId);
  });
});
