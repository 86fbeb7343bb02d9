import type { Extraction } from '../../../../lib/extraction/record.ts';
import type { readQueue } from '../../aws/queues.ts';
import type { AlarmLine } from '../../aws/read-alarms.ts';
import type { Hours } from '../../aws/read-hours.ts';
import type { LineHistory } from '../../aws/read-line-history.ts';
import type { Finding } from '../../doctor/finding.ts';
import type { Trying } from '../../explain/execution-progress.ts';
import type { Bounded, Hold } from '../../explain/sources.ts';
import type { Story } from '../../explain/story.ts';
import type { HealthReport, HourOfSubject } from '../../health/read-health.ts';
import type { StartRate } from '../../terminal/describe-rate.ts';
import { explainFailure } from '../../terminal/explain-failure.ts';
import type { Since } from './select-extractions.ts';

/** What could be read of one place, or why it could not be read, such as a missing permission. */
export type Part<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'unreadable'; readonly explanation: string };

/** Reads a part. An expected failure of AWS or the network is part of the page. Throws any other: it is a defect. */
export const readPart = async <Value>(read: () => Promise<Value>): Promise<Part<Value>> => {
  try {
    return { kind: 'read', value: await read() };
  } catch (error) {
    const explanation = explainFailure(error);
    if (explanation === undefined) throw error;
    return { kind: 'unreadable', explanation };
  }
};

export const valueIn = <Value>(part: Part<Value>): Value | undefined =>
  part.kind === 'read' ? part.value : undefined;

export type { AlarmLine, Bounded, Hold };

/** One delivery, as receive-webhook logged it. The log has no body and no signature. */
export type DeliveryLine = {
  readonly at: string;
  readonly taskId?: string;
  /** Absent for a task that no extraction is linked to, and for a refused delivery. */
  readonly extractionId?: string;
  readonly answer: 204 | 400 | 401 | 500;
  /** A code of receive-webhook: `recorded`, `stored`, `unknown-status`, `mismatch`, `not-json` and so on. */
  readonly verdict: string;
  /** What happened to the waiting machine: `woken`, `gone`, `no-token` or `invalid-token`. */
  readonly wake?: string;
};

export type FindingLine = Finding & { readonly id: string };

export type QueueLine = Readonly<Awaited<ReturnType<typeof readQueue>>> & {
  readonly name: string;
  /** Whether somebody has to do something about each message. */
  readonly isDeadLetters: boolean;
};

/** How extractions of each entity and product ended: now, before, and by the hours of the last two days. */
export type SubjectsReport = HealthReport & { readonly hours: readonly HourOfSubject[] };

/** What the console reads of a deployment. Every method throws the SDK's errors; `readPart` explains them. */
export interface ConsoleSources {
  readonly sweepEveryMinutes: number;
  /** Every open record. Eventually consistent. */
  open(): Promise<readonly Extraction[]>;
  /** The records of the newest executions since then, open ones too. */
  recent(since: Date): Promise<Bounded<Extraction>>;
  /** As `recent`, of an hour. */
  lastHour(): Promise<Bounded<Extraction>>;
  record(extractionId: string): Promise<Extraction | undefined>;
  /** The record of the extraction that a task belongs to, for as long as `Tasks` keeps its item: 30 days. */
  recordOfTask(taskId: string): Promise<Extraction | undefined>;
  /** Those with exactly this reference or batch, of any status: the newest of a thousand. */
  withName(by: 'reference' | 'batch', name: string): Promise<Bounded<Extraction>>;
  /** Undefined where no place knows the extraction. */
  story(extractionId: string): Promise<Story | undefined>;
  /** What the machine does about each of these, if it still does anything. */
  tries(
    extractionIds: readonly string[],
  ): Promise<readonly (readonly [extractionId: string, trying: Trying])[]>;
  /** Newest first. */
  deliveries(since: Date): Promise<Bounded<DeliveryLine>>;
  /** When each finished that did within an hour, newest first. */
  sweeps(): Promise<Bounded<string>>;
  findings(): Promise<readonly FindingLine[]>;
  alarms(): Promise<readonly AlarmLine[]>;
  queues(): Promise<readonly QueueLine[]>;
  /** Metrics by the hours of the last two days. */
  hours(): Promise<Hours>;
  /** What happened in the line of starts for so long. */
  line(since: Since): Promise<LineHistory>;
  subjects(): Promise<SubjectsReport>;
  holds(): Promise<readonly Hold[]>;
  /** The rate of starts, and which starts wait in line. */
  rate(): Promise<StartRate>;
}
