import { theExtraction } from '../world/the-extraction.ts';
import type { Invariant } from './invariant.ts';

export const markedBeforeSettled: Invariant = {
  name: 'marked-before-settled',
  rule: 'When the record becomes CREDENTIALS_WRONG, credentials whose MAC the link has stored are marked as refused, unless another status was known first. If the status was noticed of an adopted task before the link, start-task marks them, which may be later.',
  checks: {
    record: ({ before, after }, world, premise) => {
      const { status, taskId = '' } = after;
      if (status !== 'CREDENTIALS_WRONG' || before?.status === status) return undefined;
      const { credentialsMac, extractionId, firstStatus = status } = world.tasks.get(taskId) ?? {};
      if (credentialsMac === undefined || extractionId !== theExtraction) return undefined;
      if (world.linkedAfterNotice.has(taskId)) return undefined;
      // Another status was known before, which shows nothing.
      if (firstStatus !== status) return undefined;
      premise();
      const mark = world.refusals.get(credentialsMac);
      return mark?.extractionIds.includes(theExtraction) === true && mark.isRefused
        ? undefined
        : 'It is settled, and its credentials are not marked.';
    },
  },
};

export const noStartOnceRefused: Invariant = {
  name: 'no-start-once-refused',
  rule: 'No start is claimed for credentials that were marked as refused before the request.',
  outlivesLoss: true,
  checks: {
    record: ({ after }, { scenario }, premise) => {
      if (scenario.marks !== 'refused') return undefined;
      if (after.reason === 'credentials-refused-before') premise();
      return after.status === 'STARTING' ? 'The start is claimed.' : undefined;
    },
  },
};
