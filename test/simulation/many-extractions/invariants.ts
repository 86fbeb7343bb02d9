import { briefCallMs } from '#lib/extraction/reconcile/read-task.ts';
import { breakerInvariants, opensForAReason } from './breaker-invariants.ts';
import { apartIn, groupOf, isHealthy, isOfStart } from './draw-population.ts';
import { outcomeOf, percentile, secondsTo } from './outcomes.ts';
import { resultsOf } from './provider.ts';
import { openIn, type Service } from './service.ts';
import { breakerSettings, settings } from './settings.ts';

/** Checks a population after its end. Returns what is wrong, or undefined. */
export type Invariant = {
  readonly name: string;
  readonly rule: string;
  /** `alone` is the same population without those that are broken. */
  readonly check: (service: Service, alone: Service) => string | undefined;
};

/** A poll or a try to collect, and a read that the slow queue makes again. */
const maxReadDelaySeconds = settings.pollEverySeconds + 2 * (settings.providerTimeoutMs / 1_000);

/** A broken read or store takes one consumer, once, for a brief call. */
const briefSeconds = briefCallMs / 1_000;

/**
 * The longest wait for a start beside broken groups of the same caller: each of thirty may take one turn of 30 s, half as long
 * again, before it is known to fail, and a process may end in one. It is still within the start window.
 */
const maxStartDelaySeconds = settings.startWindowSeconds;

const sameOutcomes: Invariant = {
  name: 'non-interference',
  rule: 'A healthy extraction outside of failing groups has the outcome and the results that it has without its broken neighbours.',
  check: ({ population, extractions }, alone) => {
    for (const { extractionId } of apartIn(population)) {
      const is = outcomeOf(extractions.get(extractionId));
      const was = outcomeOf(alone.extractions.get(extractionId));
      if (is !== was) return `${extractionId} is "${is}", and without its neighbours "${was}".`;
    }
    return undefined;
  },
};

const boundedDelay: Invariant = {
  name: 'bounded-delay',
  rule: `Broken reads and stores delay a healthy extraction by ${maxReadDelaySeconds} s at most, and by what one brief call of each takes the consumers. Broken starts of its caller may delay it within its start window. Those of up to four groups, or of another caller, do not.`,
  check: ({ population, extractions }, alone) => {
    const brokenGroupsOf = (caller: string): number =>
      new Set(
        population.members
          .filter((one) => one.caller === caller && one.calls?.some(isOfStart) === true)
          .map(groupOf),
      ).size;
    const broken = population.members.filter((one) => !isHealthy(one)).length;
    const readDelaySeconds = maxReadDelaySeconds + (briefSeconds * broken) / population.consumers;
    for (const { extractionId, caller } of apartIn(population)) {
      const mayWait = brokenGroupsOf(caller) >= breakerSettings.failures;
      const max = readDelaySeconds + (mayWait ? maxStartDelaySeconds : 0);
      const record = extractions.get(extractionId);
      const without = alone.extractions.get(extractionId);
      if (record === undefined || without === undefined) continue;
      const delay = secondsTo(record, 'results') - secondsTo(without, 'results');
      if (delay > max) return `${extractionId} is delayed by ${delay.toFixed(0)} s.`;
    }
    return undefined;
  },
};

const halfStartSoon: Invariant = {
  name: 'half-start-soon',
  rule: 'Whatever broken groups do, half of the healthy extractions outside of them start within 30 s.',
  check: ({ population, extractions }) => {
    const median = percentile(
      apartIn(population).map(({ extractionId }) => secondsTo(extractions.get(extractionId), 'start')),
      0.5,
    );
    return median > 30 ? `Half of the healthy ones wait for ${median.toFixed(0)} s and more.` : undefined;
  },
};

const ownResults: Invariant = {
  name: 'own-results',
  rule: 'The results of an extraction are those of its own task.',
  check: ({ population, extractions }) => {
    const wrong = population.members.find((one) => {
      const results = extractions.get(one.extractionId)?.results;
      return results !== undefined && results.sha256 !== resultsOf(one);
    });
    return wrong === undefined ? undefined : `${wrong.extractionId} has the results of another.`;
  },
};

const everyRecordCloses: Invariant = {
  name: 'every-record-closes',
  rule: 'Every record is closed when deadline, grace and the time for collecting have passed, whatever the provider answers.',
  check: (service) => {
    const [open] = openIn(service);
    return open === undefined ? undefined : `${open.extractionId} is still open.`;
  },
};

/** How many extractions had no results yet at a moment. */
const openAt = ({ extractions }: Service, at: number): number =>
  [...extractions.values()].filter(
    ({ requestedAt, collectedAt }) =>
      Date.parse(requestedAt) <= at && (collectedAt === undefined || Date.parse(collectedAt) > at),
  ).length;

const messagesDoNotMultiply: Invariant = {
  name: 'messages-do-not-multiply',
  rule: 'However long reads hang, no more than two messages for each open extraction wait in the slow queue.',
  check: (service) => {
    const { messages, at } = service.slowQueue.longest;
    const open = openAt(service, at);
    return messages <= 2 * open ? undefined : `${messages} messages wait for ${open} extractions.`;
  },
};

/** Those of a backlog of the queues. */
export const backlogInvariants: readonly Invariant[] = [messagesDoNotMultiply, everyRecordCloses];

/** Those that need not wait until the broken ones are closed. */
export const whileOthersAreOpen: readonly Invariant[] = [
  ownResults,
  sameOutcomes,
  boundedDelay,
  opensForAReason,
];

/** Those of the mixes, which have enough healthy ones for it. */
export const mixInvariants: readonly Invariant[] = [...whileOthersAreOpen, halfStartSoon];

/** Those of broken and healthy extractions side by side. */
export const neighbourInvariants: readonly Invariant[] = [...whileOthersAreOpen, everyRecordCloses];

/** Those of outages of the whole provider. */
export const outageInvariants: readonly Invariant[] = [...breakerInvariants, ownResults, everyRecordCloses];
