import { createHash } from 'node:crypto';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { StreamChange } from '../aws/read-extraction-changes.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type {
  AuditLimits,
  AuditSources,
  Checked,
  Facts,
  Image,
  Rule,
  SourceName,
  Step,
} from './audit-types.ts';
import { rules } from './rules.ts';

export type AuditOptions = {
  readonly since: Date;
  readonly clock: () => Date;
  /** How many requests are drawn, of all in the period. Default: all. */
  readonly sample?: number | undefined;
  /** Decides which ones are drawn. */
  readonly seed: string;
  /** Reads all results of the audited records, which are bank data. */
  readonly results?: true | undefined;
};

/** `unchecked`: a source that the rule needs could not be read, and `notChecked` says why. */
export type RuleReport = Pick<Rule, 'id' | 'sentence'> &
  Checked & { readonly result: 'passed' | 'failed' | 'unchecked' };

/** How many there were, and what each rule found. `ofOtherVersions`: records that no rule is about. */
export type AuditReport = Readonly<Record<'requests' | 'audited' | 'records' | 'ofOtherVersions', number>> & {
  readonly rules: readonly RuleReport[];
};

/** Draws by the hash of seed and id. So a seed draws the same of the same requests, in whatever order the log has them. */
const draw = (ids: readonly string[], { sample, seed }: AuditOptions): ReadonlySet<string> => {
  if (sample === undefined) return new Set(ids);
  const rank = (id: string) => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const ranked = ids.map((id) => `${rank(id)} ${id}`).toSorted();
  return new Set(ranked.slice(0, sample).map((one) => one.slice(65)));
};

/** What never changes. The fingerprint is over what is nested in it. */
const fixed =
  'requestedBy requestId fingerprint reference batch priority method entity product consentId variant'.split(
    ' ',
  );

const imageOf = (record: Extraction) => {
  const { requestId, status, settledAt, taskId, dueShard, expiresAt } = record;
  return {
    requestId,
    status,
    settledAt,
    taskId,
    dueShard,
    expiresAt,
    request: JSON.stringify(record, fixed),
  } as Image;
};

/** The change as a step. None for one that leaves status and request as they are, or that is of another version of Cosecha. */
const stepOf = ({ at, before, after }: StreamChange): Step | undefined => {
  const record = after ?? before;
  if (record?.schemaVersion !== 1) return undefined;
  const images = { ...(before && { before: imageOf(before) }), ...(after && { after: imageOf(after) }) };
  if (before?.status === after?.status && images.before?.request === images.after?.request) return undefined;
  return { extractionId: record.extractionId, at, ...images };
};

/** Reads sources, reports progress, and keeps why a source could not be read. */
const reader = (onProgress: (what: string) => void) => {
  const unread = new Map<SourceName, string>();
  const read = async <Value>(name: SourceName, empty: Value, reading: () => Promise<Value>) => {
    onProgress(`reading ${name}`);
    try {
      return await reading();
    } catch (error) {
      const explanation = explainFailure(error);
      // A defect of the audit itself.
      if (explanation === undefined) throw error;
      unread.set(name, explanation);
      return empty;
    }
  };
  /** What `keep` makes of each item, where it is not undefined. */
  const readAll = <Item, Kept>(
    name: SourceName,
    items: () => AsyncIterable<Item>,
    keep: (item: Item) => Kept | undefined,
  ): Promise<readonly Kept[]> =>
    read(name, [], async () => {
      const all: Kept[] = [];
      let count = 0;
      for await (const item of items()) {
        const kept = keep(item);
        if (kept !== undefined) all.push(kept);
        count += 1;
        if (count % 100 === 0) onProgress(`reading ${name}: ${count.toLocaleString('en')}`);
      }
      return all;
    });
  return { unread, read, readAll };
};

type Reader = ReturnType<typeof reader>;

const asItIs = <Item>(item: Item): Item => item;

/** Which extractions to audit. The log is read before the records: a request is logged after it is recorded. */
const choose = async (
  sources: AuditSources,
  options: AuditOptions & Pick<Facts, 'now'>,
  { read, readAll }: Reader,
) => {
  const period = { from: options.since.toISOString(), to: options.now.toISOString() };
  const lines = await readAll('requested', () => sources.requested(period), asItIs);
  const accepted = await readAll('accepted', () => sources.accepted(period), asItIs);
  const due = await read('due', [], sources.due);
  const items = await readAll('requestItems', sources.requestItems, asItIs);
  const tombstones = await readAll('tombstones', sources.tombstones, asItIs);
  const marks = await readAll('marks', sources.marks, asItIs);
  const line = await readAll('line', sources.line, asItIs);
  const shared = await read('shared', new Map<string, object>(), sources.shared);
  // A repeated request has several lines, and the first is kept.
  const requests = new Map(lines.toReversed().map((line) => [line.extractionId, line]));
  const drawn = draw([...requests.keys()], options);
  const requested = [...requests.values()].filter(({ extractionId }) => drawn.has(extractionId));
  const others = [
    ...accepted.filter(({ extractionId }) => !requests.has(extractionId)),
    ...items,
    ...tombstones,
    ...marks,
    ...line,
  ];
  const ids = [...new Set([...drawn, ...due, ...others.map(({ extractionId }) => extractionId)])];
  const facts = { requested, accepted, items, tombstones, marks, line, shared };
  return { requests: requests.size, ids, facts };
};

/** How many objects the bucket has of each that was erased. */
async function* counts({ objects }: AuditSources, tombstones: Facts['tombstones']) {
  const erased = tombstones.filter(({ erasedAt }) => erasedAt !== undefined);
  for (const { extractionId } of erased) yield [extractionId, await objects(extractionId)] as const;
}

/** One after the other: each may have 20 MiB, of which nothing is kept. */
async function* hashes({ stored }: AuditSources, records: readonly Extraction[]) {
  for (const { extractionId, results } of records) {
    if (results !== undefined) yield [extractionId, await stored(results)] as const;
  }
}

const gather = async (sources: AuditSources, options: AuditOptions, reading: Reader) => {
  const { read, readAll } = reading;
  const { since, clock } = options;
  const now = clock();
  const limits = await read('limits', {} as AuditLimits, sources.limits);
  const { requests, ids, facts: chosen } = await choose(sources, { ...options, now }, reading);
  const recordsReadAt = clock();
  const all = await readAll('records', () => sources.records(ids), asItIs);
  const known = all.filter(({ schemaVersion }) => schemaVersion === 1);
  const erasedIds = new Set(chosen.tombstones.map(({ extractionId }) => extractionId));
  const ofErased = chosen.accepted.filter(({ extractionId }) => erasedIds.has(extractionId));
  const taskIds = [...known.filter(({ method }) => method === 'credentials'), ...ofErased].flatMap(
    ({ taskId }) => (taskId ? [taskId] : []),
  );
  const tasks = await readAll('tasks', () => sources.tasks([...new Set(taskIds)]), asItIs);
  const stored = await readAll('stored', () => hashes(sources, options.results ? known : []), asItIs);
  const objects = await readAll('objects', () => counts(sources, chosen.tombstones), asItIs);
  // After the records: it shows why one is gone.
  const steps = await readAll('changes', () => sources.changes(now.toISOString()), stepOf);
  const facts: Facts = {
    now,
    recordsReadAt,
    since,
    limits,
    steps,
    ...chosen,
    ids: new Set(ids),
    records: new Map(known.map((record) => [record.extractionId, record])),
    present: new Set(all.map(({ extractionId }) => extractionId)),
    tasks: new Map(tasks.map((task) => [task.taskId, task])),
    stored: new Map(stored),
    objects: new Map(objects),
  };
  return { requests, facts };
};

const apply = ({ id, sentence, needs, check }: Rule, facts: Facts, { unread }: Reader): RuleReport => {
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
  onProgress: (what: string) => void = () => undefined,
): Promise<AuditReport> => {
  const reading = reader(onProgress);
  const { requests, facts } = await gather(sources, options, reading);
  return {
    requests,
    audited: facts.requested.length,
    records: facts.records.size,
    ofOtherVersions: facts.present.size - facts.records.size,
    rules: rules.map((rule) => apply(rule, facts, reading)),
  };
};
