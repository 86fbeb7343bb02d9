import { defined } from '../../../lib/defined.ts';
import type { Ending, Invoker } from '../../../lib/extraction/plan.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { bounded } from './bounded-text.ts';
import type { Known } from './gather.ts';
import type { LogLine } from './sources.ts';
import type { Lane, StoryLine } from './story.ts';

const lanes: Readonly<Record<string, Lane>> = {
  'request-extraction': 'api',
  'get-extraction': 'api',
  'start-task': 'start',
  'dispatch-starts': 'start',
  'receive-webhook': 'webhook',
  'reconcile-extraction': 'provider',
  'sweep-extractions': 'queue',
};

/** The fields of a log line that a story shows: codes, statuses and flags that Cosecha writes itself. */
const shownFields = [
  'kind',
  'error',
  'outcome',
  'explanation',
  'status',
  'reason',
  'caller',
  'invoker',
] as const;

type Failure = { readonly name?: unknown; readonly httpStatus?: unknown; readonly cause?: unknown };

/** `ProviderBusy ← HTTP 429`: the names of a failure and of its causes. */
const describeFailure = (failure: unknown, depth = 0): string => {
  if (typeof failure !== 'object' || failure === null || depth > 3) return '';
  const { name, httpStatus, cause } = failure as Failure;
  const status = typeof httpStatus === 'number' ? ` (HTTP ${httpStatus})` : '';
  const because = describeFailure(cause, depth + 1);
  return `${String(name)}${status}${because === '' ? '' : `, as ${because}`}`;
};

const describeRecorded = (recorded: unknown): string => {
  if (typeof recorded === 'string') return recorded;
  if (typeof recorded !== 'object' || recorded === null) return '';
  const { kind, wake } = recorded as { readonly kind?: unknown; readonly wake?: unknown };
  return [kind, wake === undefined ? undefined : `machine: ${String(wake)}`]
    .filter((part) => part !== undefined)
    .join(', ');
};

const detailsOf = ({ fields }: LogLine): string =>
  [
    describeFailure(fields.failure),
    describeRecorded(fields.recorded),
    ...shownFields.map((name) => (typeof fields[name] === 'string' ? `${name} ${fields[name]}` : '')),
  ]
    .filter((part) => part !== '')
    .join(', ');

/** A poll of the machine, which its history has as a failed try. */
const isPoll = ({ caller, outcome }: LogLine['fields']): boolean =>
  caller === ('machine' satisfies Invoker['kind']) && outcome === ('not-yet' satisfies Ending['conclusion']);

const { started, ended, corrected, errorCodesCollected } = logMessages;
const inRecord: ReadonlySet<string> = new Set([started, ended, corrected, errorCodesCollected]);

/** A record has its last status, and not the one that a correction replaced. */
const isOf = ({ status = '' }: LogLine['fields'], record: Extraction): boolean =>
  status === '' || status === record.status;

/** Lines that the record or the history show better. */
const isRepetition = ({ message, fields }: LogLine, { record, execution }: Known): boolean =>
  (message === logMessages.accepted && fields.taskId === record?.taskId) ||
  (record !== undefined && inRecord.has(message) && isOf(fields, record)) ||
  (execution !== undefined && (message === logMessages.startFinished || isPoll(fields)));

const textOf = ({ message, fields }: LogLine): string =>
  typeof fields.metric === 'string' ? `Counted ${fields.metric}.` : message;

const verdictOf = ({ level, message }: LogLine): StoryLine['verdict'] => {
  if (level === 'ERROR') return 'failed';
  return message === logMessages.deliveryReceived ? 'ok' : undefined;
};

export const logLines = (known: Known): readonly StoryLine[] =>
  known.logs
    .filter((line) => !isRepetition(line, known))
    .map((line) => {
      const details = detailsOf(line);
      return defined({
        at: line.at,
        // The message of the queue is why it was reconciled.
        lane: line.fields.invoker === 'queue' ? 'queue' : (lanes[line.service] ?? 'record'),
        source: bounded(line.service),
        what: bounded(`${textOf(line)}${details === '' ? '' : ` ${details}`}`),
        verdict: verdictOf(line),
      }) as StoryLine;
    });
