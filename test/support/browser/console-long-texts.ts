import type { Extraction } from '#lib/extraction/record.ts';
import { mapFigures } from '../../../tools/cli/aws/read-hours.ts';
import type { serveConsole } from '../../../tools/cli/console/serve-console.ts';
import { explainExtraction } from '../../../tools/cli/explain/explain-extraction.ts';
import { commandTextOf } from '../../../tools/cli/terminal/command-text.ts';
import {
  failed,
  inStartTask,
  sourcesWith as placesWith,
} from '../../unit/tools/cli/explain/story-fixtures.ts';
import { at, closedExtraction, extractionIn, id, iso } from '../data/extraction-fixtures.ts';
import { comparedSubjects, consoleDeps, sourcesWith } from './console-fixtures.ts';

export const longId = id;

/** As long as the API and AWS allow, and without a place to break it. */
const reference = `reference-${'R'.repeat(246)}`;
const entity = `entity-${'e'.repeat(249)}`;
const requestedBy = `arn:aws:sts::111122223333:assumed-role/${'Caller'.repeat(10)}Role`;
const taskId = `task-${'t'.repeat(95)}`;
const reason = 'CONSTRAINT_FAILED_AT_THE_PROVIDER_'.repeat(5);

const long: readonly Extraction[] = [
  extractionIn('RUNNING', { extractionId: id, reference, entity, requestedBy, taskId, dueAt: iso(-3_600) }),
  closedExtraction({
    extractionId: id.replace(/1$/, '2'),
    status: 'FAILED',
    reference,
    entity,
    requestedBy,
    taskId,
    settledAt: iso(50),
    isFinal: true,
    actionResults: Array.from({ length: 12 }, (_, index) => ({
      id: `action-with-a-long-name-${index}`,
      status: 'FAILED',
      errorCode: `AN_ERROR_THAT_IS_NEW_${index % 4}_${'X'.repeat(40)}`,
    })),
    collectionError: reason,
  }),
  extractionIn('CREDENTIALS_LOCKED', { extractionId: id.replace(/1$/, '3'), dueAt: iso(-3_600) }),
];

/** A console whose every text of a caller, the provider or AWS is as long as it can be. */
export const longTextDeps = (): Parameters<typeof serveConsole>[1] => {
  const [record] = long;
  return {
    ...consoleDeps(
      sourcesWith(long, {
        story: async (extractionId) =>
          explainExtraction(
            placesWith({
              ...(record === undefined ? {} : { record }),
              execution: inStartTask(failed(4, reason, reason)),
            }),
            { extractionId, now: at(100), command: commandTextOf() },
          ),
        sweeps: async () => ({ items: [{ at: iso(40), sent: 1_000_000, failed: 1_000 }], complete: false }),
        queues: async () =>
          [false, true].map((isDeadLetters) => ({
            name: 'reconcile queue',
            isDeadLetters,
            waiting: 1_000_000,
            later: 1_000_000,
            inFlight: 120_000,
          })),
        deliveries: async () => ({
          items: [
            {
              at: iso(30),
              taskId,
              extractionId: id,
              answer: 204,
              verdict: 'recorded',
              wake: 'invalid-token',
            },
            { at: iso(20), taskId, answer: 204, verdict: 'stored' },
            { at: iso(-90_000), taskId, answer: 401, verdict: 'malformed' },
          ],
          complete: false,
        }),
        findings: async () => [
          {
            id: reason,
            result: 'failed',
            message: `${reason} ${reason}`,
            remedy: `\`cosecha ${reason}\` ${reason}`,
          },
        ],
        alarms: async () => [
          {
            name: `Cosecha-prod-${'a'.repeat(200)}`,
            description: `${reason} https://runbook.example/#${reason}`,
            state: 'ALARM',
            since: iso(-90_000),
          },
        ],
        subjects: async () => {
          const { subjects, hours, complete } = await comparedSubjects();
          const causes = Array.from({ length: 6 }, (_, index) => ({
            cause: `${reason}${index}`,
            count: 1_000,
          }));
          return {
            subjects: [
              ...subjects.map((one) => ({
                ...one,
                subject: entity,
                lastHour: {
                  ...one.lastHour,
                  requested: 1_000_000,
                  causes,
                  toOutcome: { p50: 86_399, p95: 172_799 },
                },
                lastDay: {
                  ...one.lastDay,
                  requested: 1_000_000,
                  causes,
                  toStart: { p50: 86_399, p95: 172_799 },
                },
                dayChange: 'slower' as const,
              })),
              ...subjects,
            ],
            hours,
            complete,
          };
        },
        holds: async () => [
          {
            kind: 'paused',
            calls: 'starts',
            since: iso(-90_000),
            reason: 'R'.repeat(200),
            by: requestedBy,
          },
          {
            kind: 'open',
            calls: 'starts',
            caller: requestedBy,
            group: entity,
            since: iso(-90_000),
            nextTurnAt: iso(125),
            cause: reason,
          },
        ],
        rate: async () => {
          const lane = {
            caller: requestedBy,
            priority: 'background',
            group: entity,
            at: iso(0),
          } as const;
          const byHand = {
            perSecond: 0.012_345,
            reason: 'R'.repeat(200),
            since: Date.parse(iso(0)),
            by: requestedBy,
          };
          const waiting = [{ ...lane, extractionId: id }];
          return {
            lanes: [{ ...lane, waiting }],
            perSecond: 0.01,
            from: 'learnt',
            byHand,
            notBefore: iso(200),
          };
        },
        hours: async () => mapFigures(() => Array.from({ length: 48 }, () => 172_799)),
        line: async () => ({
          periodSeconds: 60,
          periods: Array.from({ length: 60 }, (_, index) => ({
            at: at(60 * (index - 58)).getTime(),
            ...{ waiting: 1e6, started: 1e4, refused: 1e4, perSecond: 123.456 },
          })),
          changes: Array.from({ length: 9 }, (_, index) => ({
            at: iso(-100 * index),
            judged: 'cut',
            perSecond: 123.456,
            share: 0.999,
          })),
        }),
      }),
    ),
    everyMs: 60_000,
    random: () => 'random',
  };
};
