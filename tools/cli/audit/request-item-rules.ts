import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Checked, Facts, Finding, RequestItem } from './audit-types.ts';
import { age, checkEach, day, slack, timeOf } from './check-each.ts';

/** When the last use of a request's item ended. Undefined while it may be needed. */
const useEnded = (record: Extraction, { recordRetention }: Facts['limits']): string | undefined => {
  if (record.method === 'credentials') return record.startedAt ?? record.settledAt;
  if (record.status === 'TIMED_OUT' || record.expiresAt === undefined) return undefined;
  return timeOf(record.expiresAt - recordRetention);
};

/** What is wrong with a record that still needs the item of its request. The item is written before it, and was read before it. */
const wrongNeeded = (facts: Facts, record: Extraction, item: RequestItem | undefined): string | undefined => {
  const { status, method, requestedAt, startedAt = requestedAt, deadlineAt, dueShard, dueAt = '' } = record;
  const isNeeded = method === 'consent' ? dueShard !== undefined : /^(REQUESTED|STARTING)$/.test(status);
  if (!isNeeded || age(facts, startedAt) < slack) return undefined;
  // KMS decrypts nothing for another extraction than its item names.
  const ends = item?.extractionId === record.extractionId ? timeOf(item.expiresAt) : undefined;
  const needed = method === 'consent' && deadlineAt > dueAt ? deadlineAt : dueAt;
  if (ends !== undefined && ends >= needed) return undefined;
  return `It is ${status}, and needs its sealed data until ${needed}. They ${ends ? `expire at ${ends}` : 'are gone'}.`;
};

/** The longest that any item is needed, twice extended by a day. */
const maxItemAge = ({ maxWait, startWindow, deadline, grace, collectFor }: Facts['limits']): number =>
  maxWait + startWindow + deadline + grace + collectFor + 2 * day;

/**
 * A removal that fails, or whose process ends, leaves its item to expire (docs/design.md). So does a request that stopped before its record,
 * and was maybe repeated. So these are findings only if they are many.
 */
export const checkItems = (facts: Facts): Checked => {
  const left: Finding[] = [];
  const buried = new Set(facts.tombstones.map(({ requestId }) => requestId));
  const expired = checkEach(facts.items, ({ extractionId, requestId, expiresAt }) => {
    const ends = timeOf(expiresAt);
    // TTL removes items some days later (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
    if (age(facts, ends) > 7 * day) return `Its sealed data should have expired at ${ends}.`;
    if (-age(facts, ends) > maxItemAge(facts.limits))
      return `Its sealed data expire at ${ends}, far too late.`;
    const record = facts.records.get(extractionId);
    if (record?.requestId !== requestId) {
      const of = record === undefined ? 'no record' : 'a request that another one replaced';
      // One of another version is not judged, and `erased-is-gone` judges what was erased.
      const isJudged = record !== undefined || !(facts.present.has(extractionId) || buried.has(requestId));
      if (isJudged) left.push({ extractionId, what: `Its sealed data, until ${ends}, belong to ${of}.` });
      return undefined;
    }
    const ended = useEnded(record, facts.limits);
    if (ended === undefined || age(facts, ended) < facts.limits.startTimeout + slack) return undefined;
    const what = `It is ${record.status}, and its sealed data, last used at ${ended}, are still stored, until ${ends}.`;
    left.push({ extractionId, what });
    return undefined;
  });
  const items = new Map(facts.items.map((item) => [item.requestId, item]));
  const needed = checkEach(facts.records.values(), (one) =>
    wrongNeeded(facts, one, items.get(one.requestId)),
  );
  const findings = [...expired.findings, ...needed.findings];
  if (left.length * 10 >= facts.accepted.length) return { ...expired, findings: [...findings, ...left] };
  const [one] = left;
  const notChecked =
    one && `items that are left to expire: ${left.length}, such as that of ${one.extractionId}`;
  const ids = left.map(({ extractionId }) => extractionId);
  return { checked: expired.checked - left.length, findings, notChecked, ...(one && { left: ids }) };
};
