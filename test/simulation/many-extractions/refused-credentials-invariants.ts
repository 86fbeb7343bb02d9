import type { ExtractionStatus } from '#lib/extraction/record.ts';
import type { RefusalMark } from '#lib/extraction/store.ts';
import type { Member } from './draw-population.ts';
import type { Invariant } from './invariants.ts';
import type { Service } from './service.ts';

/** What happened to an extraction that matters for refused credentials. */
export type RefusalEvent = { readonly of: string } & (
  | { readonly kind: 'status'; readonly status: ExtractionStatus; readonly reason: string | undefined }
  /** Its task was linked for the first time. */
  | { readonly kind: 'linked'; readonly isAdopted: boolean }
  /** start-task read the mark. */
  | { readonly kind: 'checked' }
  | { readonly kind: 'marked'; readonly mark: RefusalMark }
  /** Its task has kept that the mark was written. */
  | { readonly kind: 'kept' }
  /** A call of a table about it lost its answer or its process. */
  | { readonly kind: 'lost' }
  /** An operator has erased it, as the last one that was refused. */
  | { readonly kind: 'erased' }
  /** An operator has forgotten all refusals. */
  | { readonly kind: 'forgotten' }
);

/** `by`: the process that did it. */
export type RefusalFact = RefusalEvent & { readonly at: number; readonly by: string };

type Kind<K extends RefusalFact['kind']> = Extract<RefusalFact, { kind: K }>;

/** The facts of a kind, of one extraction or of all. */
const of = <K extends RefusalFact['kind']>({ facts }: Service, kind: K, id?: string): readonly Kind<K>[] =>
  facts.filter((one): one is Kind<K> => one.kind === kind && (id === undefined || one.of === id));

/** All are of one user, so that only the password differs. */
const isSameLogin = (one: Member, other: Member): boolean =>
  one.caller === other.caller &&
  one.entity === other.entity &&
  one.raw !== undefined &&
  one.raw.value.password === other.raw?.value.password;

/** Of the extractions of one login, which are all members but this one that sent the same password. */
const othersOfLogin = ({ population }: Service, one: Member): readonly Member[] =>
  population.members.filter((other) => other !== one && isSameLogin(one, other));

const showsRight = ({ raw, ends = 'COMPLETED' }: Member): boolean =>
  raw?.confirmed === true && (ends === 'COMPLETED' || ends === 'PARTIAL');

const isRefused = ({ ends }: Member): boolean => ends === 'CREDENTIALS_WRONG';

const markOf = (service: Service, { extractionId }: Member): Kind<'marked'> | undefined =>
  of(service, 'marked', extractionId)[0];

/** Whether its part of the mark was erased by this time. */
const isErased = (service: Service, { extractionId }: Member, time: number): boolean =>
  of(service, 'erased', extractionId).some(({ at }) => at <= time);

/** Whether a member of a login had set its mark by this time, and it was neither erased nor forgotten. */
const isMarked = (service: Service, one: Member, time: number): boolean => {
  const marked = markOf(service, one);
  if (marked === undefined || marked.at > time || isErased(service, one, time)) return false;
  return !of(service, 'forgotten').some(({ at }) => at >= marked.at && at <= time);
};

/** Whether what a member of a login showed counts at this time: it is marked, and that has not ended. */
const countsAt = (service: Service, one: Member, time: number): boolean =>
  isMarked(service, one, time) && (markOf(service, one)?.mark.expiresAt ?? 0) * 1_000 > time;

const noticedAt = (service: Service, one: Member): string => markOf(service, one)?.mark.noticedAt ?? '';

/** Whether a confirmed one was started after the refusal was marked, and had its outcome before this time. */
const isAcceptedAfter = (service: Service, one: Member, refused: Member, time: number): boolean => {
  const statuses = of(service, 'status', one.extractionId);
  const started = statuses.find(({ status }) => status === 'STARTING');
  const settled = statuses.find(({ status }) => status === one.ends && status !== 'FAILED');
  const [linked] = of(service, 'linked', one.extractionId);
  const marked = markOf(service, refused);
  if (started === undefined || settled === undefined || marked === undefined) return false;
  return linked?.isAdopted === false && started.at > marked.at && settled.at < time;
};

/** Whether the login was known at this time to be right, by a notice after that of the refusal. */
const isOverruled = (service: Service, refused: Member, time: number): boolean =>
  othersOfLogin(service, refused).some(
    (one) =>
      showsRight(one) &&
      (isAcceptedAfter(service, one, refused, time) ||
        (countsAt(service, one, time) && noticedAt(service, one) > noticedAt(service, refused))),
  );

/** When this process last read the mark for an extraction, before it did something to it. */
const checkedBefore = (service: Service, { of: id, by, at }: RefusalFact): number | undefined =>
  of(service, 'checked', id).findLast((one) => one.by === by && one.at <= at)?.at;

const needsCheck = ({ raw }: Member): boolean => raw !== undefined && raw.confirmed !== true;

const refusedNotSentAgain: Invariant = {
  name: 'refused-not-sent-again',
  rule: 'No unconfirmed start is claimed without a check, nor after one that came after a refusal of the same login was settled, as long as its mark is kept. A task that was adopted sets none.',
  check: (service) => {
    for (const claimed of of(service, 'status').filter(({ status }) => status === 'STARTING')) {
      const one = service.memberOf(claimed.of);
      if (!needsCheck(one)) continue;
      const checked = checkedBefore(service, claimed);
      if (checked === undefined) return `${claimed.of} is started without a check.`;
      const sent = othersOfLogin(service, one).find((other) => {
        const { extractionId } = other;
        const statuses = of(service, 'status', extractionId);
        const settled = statuses.find(({ status }) => status === 'CREDENTIALS_WRONG');
        const [linked] = of(service, 'linked', extractionId);
        if (settled === undefined || settled.at >= checked || linked?.isAdopted !== false) return false;
        const marked = markOf(service, other);
        // Also if the clock was ahead by which it was noticed.
        const forgotten = of(service, 'forgotten').some(
          ({ at }) =>
            at <= checked &&
            (marked === undefined || marked.at <= at || Date.parse(marked.mark.noticedAt) <= at),
        );
        if (isErased(service, other, checked)) return false;
        const keptUntil = settled.at + (service.population.keptDays ?? 7) * 86_400_000;
        // An hour less, as the days count from the first notice.
        return !forgotten && checked < keptUntil - 3_600_000 && !isOverruled(service, other, checked);
      });
      if (sent !== undefined) return `${claimed.of} is started, although ${sent.extractionId} was refused.`;
    }
    return undefined;
  },
};

/** A mark of several extractions ends with the latest of them, also once that one was erased (`withoutExtraction`). */
const isMarkOver = (service: Service, one: Member, time: number): boolean =>
  [one, ...othersOfLogin(service, one)].every((other) => {
    const marked = markOf(service, other);
    const isOf = marked !== undefined && marked.at <= time && isRefused(other);
    return !isOf || marked.mark.expiresAt * 1_000 <= time;
  });

const refusedForAReason: Invariant = {
  name: 'refused-for-a-reason',
  rule: 'An extraction is refused only if the bank refused the same login of the same caller and entity, and neither a confirmed one was accepted since nor the mark was forgotten or has ended.',
  check: (service) => {
    for (const rejected of of(service, 'status')) {
      if (rejected.reason !== 'credentials-refused-before') continue;
      const one = service.memberOf(rejected.of);
      const checked = checkedBefore(service, rejected) ?? 0;
      const isRight =
        needsCheck(one) &&
        othersOfLogin(service, one).some(
          (other) =>
            isRefused(other) &&
            isMarked(service, other, checked) &&
            !isMarkOver(service, other, checked) &&
            !isOverruled(service, other, checked),
        );
      if (!isRight) return `${rejected.of} is refused.`;
    }
    return undefined;
  },
};

/** Whether a mark counts after what none of its extractions showed so late. A clock that was ahead, or an operator, may be why. */
const isLate = ({ tasks, population }: Service, { extractionIds, noticedAt }: RefusalMark): boolean => {
  if (population.clocksAhead !== undefined || population.forgetsAt !== undefined) return false;
  return [...tasks.values()]
    .filter(({ extractionId = '' }) => extractionIds.includes(extractionId))
    .every((task) => Date.parse(task.noticedAt ?? noticedAt) + 1_000 < Date.parse(noticedAt));
};

const marksAreRight: Invariant = {
  name: 'marks-are-right',
  rule: 'A mark says what the final status of its extraction shows, and when that was noticed. It is set before that is settled, unless its task was adopted, and is not set past its end.',
  check: (service) => {
    for (const { of: id, mark, at } of of(service, 'marked')) {
      const one = service.memberOf(id);
      const shows = mark.isRefused ? isRefused(one) : showsRight(one);
      if (!shows) return `${id} ends ${one.ends}, and sets a mark.`;
      if (mark.expiresAt * 1_000 <= at) return `${id} sets a mark that has ended.`;
      if (isLate(service, mark)) return `${id} sets a mark that is later than what it shows.`;
      const settled = of(service, 'status', id).find(({ status }) => status === one.ends);
      // start-task may link it after a delivery, and what it then knows of the credentials is marked late.
      const isAdopted = of(service, 'linked', id)[0]?.isAdopted === true;
      if (!isAdopted && settled !== undefined && settled.at < at)
        return `${id} sets its mark after its outcome.`;
    }
    return undefined;
  },
};

/** Whether a process ended, or a call was lost, before the task of an extraction had kept that its mark was written. */
const isUnkept = (service: Service, id: string, from: number, until: number): boolean => {
  const isBetween = ({ at }: RefusalFact): boolean => at >= from && at <= until;
  return !of(service, 'kept', id).some(({ at }) => at < until) && of(service, 'lost', id).some(isBetween);
};

const markedOnce: Invariant = {
  name: 'marked-once',
  rule: 'No extraction sets its mark twice, also after another process has replaced or forgotten it, but where the note in `Tasks` that it was written was lost with a call or a process. It may join the mark that another of the same login has set since, which counts without it.',
  check: (service) => {
    const marks = of(service, 'marked');
    const twice = marks.find(({ of: id, mark, at }, index) => {
      const first = marks.findIndex((one) => one.of === id);
      const others = othersOfLogin(service, service.memberOf(id)).map(({ extractionId }) => extractionId);
      const joined = marks
        .slice(first, index)
        .some((one) => others.includes(one.of) && mark.extractionIds.includes(one.of));
      const firstAt = marks[first]?.at ?? 0;
      return first !== index && !joined && !isUnkept(service, id, firstAt, at);
    });
    return twice && `${twice.of} sets its mark twice.`;
  },
};

/** Those of several extractions of one login. */
export const refusalInvariants: readonly Invariant[] = [
  refusedNotSentAgain,
  refusedForAReason,
  markedOnce,
  marksAreRight,
];
