import type { Checked, Facts, Tombstone } from './audit-types.ts';
import { age, checkEach, slack } from './check-each.ts';

/** What is left of an extraction that was erased. A later request under the same key has things of its own. */
const leftOf = (facts: Facts, marked: ReadonlySet<string>, tombstone: Tombstone): string | undefined => {
  const { extractionId, requestId, reference, searchedAt, erasedAt } = tombstone;
  const { records, items, accepted, tasks, objects, line } = facts;
  const record = records.get(extractionId);
  const isLinked = accepted.some((one) => {
    const { extractionId: linked, credentialsMac } = tasks.get(one.taskId ?? '') ?? { taskId: '' };
    const isOwn = linked === extractionId || (linked === undefined && credentialsMac !== undefined);
    return one.extractionId === extractionId && isOwn;
  });
  const left = [
    ...(record?.requestId === requestId ? ['its record'] : []),
    ...(items.some((item) => item.requestId === requestId) ? ['its sealed data'] : []),
    ...(line.some((place) => place.requestId === requestId) ? ['its place in line'] : []),
    ...(record === undefined && isLinked ? ['its task'] : []),
    ...(record === undefined && (objects.get(extractionId) ?? 0) > 0 ? ['its results'] : []),
    ...(record === undefined && marked.has(extractionId) ? ['what its bank refused'] : []),
    ...(searchedAt !== undefined && reference !== undefined ? ['the reference of its erasure'] : []),
  ];
  return left.length === 0 ? undefined : `It was erased at ${erasedAt}, and there is ${left.join(', ')}.`;
};

export const checkErasedIsGone = (facts: Facts): Checked => {
  const marked = new Set(facts.marks.map(({ extractionId }) => extractionId));
  const erased = facts.tombstones.filter(({ erasedAt }) => erasedAt !== undefined);
  return checkEach(erased, (one) => leftOf(facts, marked, one));
};

/** A message is tried again for some minutes. Then it is in the dead-letter queue. */
const removalSeconds = 3_600;

/** What is wrong with an erasure that has not ended. What is open when it is asked ends by itself first, and is then closed at once. */
const wrongErasure = (facts: Facts, { askedAt, removingAt, erasedAt }: Tombstone): string | undefined => {
  const { deadline, machineSlack, collectFor, maxWait, sweepEvery } = facts.limits;
  if (erasedAt !== undefined) return undefined;
  if (removingAt !== undefined) {
    if (age(facts, removingAt) < removalSeconds) return undefined;
    return `Its removal began at ${removingAt}, and has not ended.`;
  }
  const allowed = maxWait + deadline + machineSlack + collectFor + 2 * removalSeconds + 3 * sweepEvery;
  // Without `askedAt`, its erasure is gone, which is kept for weeks after it was asked.
  if (askedAt !== undefined && age(facts, askedAt) < allowed) return undefined;
  return `It was to be erased at ${askedAt ?? 'a time that is gone'}, and is not.`;
};

/** The marks of records, and the tombstones. The first message of an erasure may be a moment before its tombstone. */
export const checkErasures = (facts: Facts): Checked => {
  const { checked, findings } = checkEach(facts.tombstones, (one) => wrongErasure(facts, one));
  const open = new Set(
    facts.tombstones.flatMap(({ requestId, erasedAt }) => (erasedAt === undefined ? [requestId] : [])),
  );
  const marked = [...facts.records.values()].filter(({ erasingAt }) => erasingAt !== undefined);
  const marks = checkEach(marked, ({ requestId, erasingAt = '' }) =>
    open.has(requestId) || age(facts, erasingAt) < slack
      ? undefined
      : `It is marked as erasing since ${erasingAt}, and no erasure is about it.`,
  );
  return { checked: checked + marks.checked, findings: [...findings, ...marks.findings] };
};
