import { createHash } from 'node:crypto';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { Facts, Finding, Image, Rule, Step } from './facts.ts';
import { rules } from './rules.ts';
import type { AuditLimits, AuditSources, Extraction, SourceName, StreamChange } from './sources.ts';

export type AuditOptions = {
  readonly since: Date;
  readonly now: Date;
  /** How many requests are drawn, of all in the period. Default: all. */
  readonly sample?: number | undefined;
  /** Decides which ones are drawn. */
  readonly seed: string;
  /** Reads all results of the audited records, which are bank data. */
  readonly results?: true | undefined;
};

/** `unchecked`: a source that the rule needs could not be read. */
export type RuleReport = Pick<Rule, 'id' | 'sentence'> & {
  readonly result: 'passed' | 'failed' | 'unchecked';
  /** How many extractions, changes or items. */
  readonly checked: number;
  readonly findings: readonly Finding[];
  readonly notChecked?: string | undefined;
};

export type AuditReport = {
  readonly requests: number;
  readonly audited: number;
  readonly records: number;
  /** Records of another version, which no rule is about. */
  readonly unknown: number;
  readonly rules: readonly RuleReport[];
};

/** Reads sources, and keeps why one could not be read. */
const reader = () => {
  const unread = new Map<SourceName, string>();
  const read = async <Value>(source: SourceName, empty: Value, reading: () => Promise<Value>) => {
    try {
      return await reading();
    } catch (error) {
      const why = explainFailure(error);
      // A defect of the audit itself: its stack is printed.
      if (why === undefined) throw error;
      unread.set(source, why);
      return empty;
    }
  };
  return { unread, read };
};

type OnProgress = (what: string) => void;

const collect = async <Item>(
  items: AsyncIterable<Item>,
  onCount: (count: number) => void,
): Promise<Item[]> => {
  const all: Item[] = [];
  for await (const item of items) {
    all.push(item);
    if (all.length % 1_000 === 0) onCount(all.length);
  }
  return all;
};

const imageOf = ({ status, settledAt, taskId, dueShard }: Extraction): Image =>
  ({ status, settledAt, taskId, dueShard }) as Image;

/** A change as a step, or nothing for one that leaves the status as it is, and for records of another version. */
const stepsOf = ({ at, before, after }: StreamChange): readonly Step[] => {
  const record = after ?? before;
  if (record?.schemaVersion !== 1 || (before !== undefined && before.status === after?.status)) return [];
  const images = { ...(before && { before: imageOf(before) }), ...(after && { after: imageOf(after) }) };
  return [{ extractionId: record.extractionId, at, ...images }];
};

async function* stepsIn(changes: AsyncIterable<StreamChange>): AsyncGenerator<Step, void> {
  for await (const change of changes) yield* stepsOf(change);
}

/** In parts, so that the progress of a long run shows. */
const readParts = async <Item>(
  ids: readonly string[],
  size: number,
  read: (part: readonly string[]) => Promise<readonly Item[]>,
  onCount: (count: number) => void,
): Promise<readonly Item[]> => {
  const all: Item[] = [];
  for (let from = 0; from < ids.length; from += size) {
    onCount(from);
    all.push(...(await read(ids.slice(from, from + size))));
  }
  return all;
};

/** Draws by the hash of seed and id. So a seed draws the same of the same requests, in whatever order the log has them. */
const draw = (ids: readonly string[], { sample, seed }: AuditOptions): ReadonlySet<string> => {
  if (sample === undefined) return new Set(ids);
  const rank = (id: string) => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const ranked = ids
    .map((id) => [rank(id), id] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return new Set(ranked.slice(0, sample).map(([, id]) => id));
};

type Read = ReturnType<typeof reader>['read'];
type Reading = { readonly sources: AuditSources; readonly read: Read; readonly onProgress: OnProgress };

/** Which extractions to audit. The log comes first: each of its requests was recorded before it was logged. */
const choose = async ({ sources, read, onProgress }: Reading, options: AuditOptions) => {
  const period = { from: options.since.toISOString(), to: options.now.toISOString() };
  const counted = (what: string) => (count: number) => onProgress(`${what}: ${count.toLocaleString('en')}`);
  onProgress('requests');
  const lines = await read('requested', [], () =>
    collect(sources.requested(period), counted('requests in the log')),
  );
  const accepted = await read('accepted', [], () =>
    collect(sources.accepted(period), counted('accepted starts in the log')),
  );
  onProgress('open extractions');
  const due = await read('due', [], sources.due);
  const items = await read('requestItems', [], sources.requestItems);
  // A repeated request has a line for each time. The first is kept.
  const requests = new Map(lines.toReversed().map((line) => [line.extractionId, line]));
  const drawn = draw([...requests.keys()], options);
  const requested = [...requests.values()].filter(({ extractionId }) => drawn.has(extractionId));
  const ids = [...new Set([...drawn, ...due, ...items.map(({ extractionId }) => extractionId)])];
  return { requests: requests.size, requested, accepted, items, ids };
};

/** Reads results of so many extractions at a time: each may have 20 MiB, which is only hashed. */
const atOnce = 8;

const readResults = async ({ sources, onProgress }: Reading, records: readonly Extraction[]) => {
  const withResults = records.filter(({ results }) => results !== undefined);
  const byId = new Map(withResults.map((record) => [record.extractionId, record.results]));
  const readOne = async (id: string) => {
    const results = byId.get(id);
    return [id, results && (await sources.stored(results))] as const;
  };
  return readParts(
    [...byId.keys()],
    atOnce,
    (part) => Promise.all(part.map(readOne)),
    (count) => onProgress(`results: ${count.toLocaleString('en')} of ${byId.size.toLocaleString('en')}`),
  );
};

const gather = async (reading: Reading, options: AuditOptions) => {
  const { sources, read, onProgress } = reading;
  const limits = await read('limits', {} as AuditLimits, sources.limits);
  const chosen = await choose(reading, options);
  const { ids, requested, accepted, items } = chosen;
  const of = (what: string, all: readonly string[]) => (count: number) =>
    onProgress(`${what}: ${count.toLocaleString('en')} of ${all.length.toLocaleString('en')}`);
  const all = await read('records', [], () => readParts(ids, 1_000, sources.records, of('records', ids)));
  const known = all.filter(({ schemaVersion }) => schemaVersion === 1);
  const taskIds = known.flatMap(({ method, taskId }) =>
    method === 'credentials' && taskId !== undefined ? [taskId] : [],
  );
  const tasks = await read('tasks', [], () => readParts(taskIds, 1_000, sources.tasks, of('tasks', taskIds)));
  const stored = options.results ? await read('stored', [], () => readResults(reading, known)) : [];
  // After the records: one that is gone shows here why.
  const steps = await read('changes', [], () =>
    collect(stepsIn(sources.changes(options.now.toISOString())), (count) =>
      onProgress(`changes in the stream: ${count.toLocaleString('en')}`),
    ),
  );
  const facts: Facts = {
    ...{ now: options.now, since: options.since, limits, requested, accepted, steps, items },
    records: new Map(known.map((record) => [record.extractionId, record])),
    tasks: new Map(tasks.map((task) => [task.taskId, task])),
    stored: new Map(stored),
    unknown: new Set(
      all.flatMap(({ schemaVersion, extractionId }) => (schemaVersion === 1 ? [] : extractionId)),
    ),
  };
  return { requests: chosen.requests, facts };
};

const apply = (rule: Rule, facts: Facts, unread: ReadonlyMap<SourceName, string>): RuleReport => {
  const { id, sentence, needs, check } = rule;
  const missing = needs.flatMap((name) => unread.get(name) ?? []);
  if (missing.length > 0) {
    return { id, sentence, result: 'unchecked', checked: 0, findings: [], notChecked: missing.join(' ') };
  }
  const checked = check(facts);
  return { id, sentence, result: checked.findings.length === 0 ? 'passed' : 'failed', ...checked };
};

/** Reads a deployment, and checks every rule. Writes nothing. Throws only for a defect of the audit. */
export const audit = async (
  sources: AuditSources,
  options: AuditOptions,
  onProgress: OnProgress = () => undefined,
): Promise<AuditReport> => {
  const { unread, read } = reader();
  const { requests, facts } = await gather({ sources, read, onProgress }, options);
  return {
    requests,
    audited: facts.requested.length,
    records: facts.records.size,
    unknown: facts.unknown.size,
    rules: rules.map((rule) => apply(rule, facts, unread)),
  };
};
