import { breakerInvariants } from './breaker-invariants.ts';
import { outcomeOf, secondsOf } from './outcomes.ts';
import { isHealthy, type Member } from './population.ts';
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

/** Two of the first pauses, a probe whose process has ended in between, and the next poll. */
const mostDelaySeconds =
  2 * settings.breakerOpenSeconds + breakerSettings.reads.probeSeconds + settings.pollEverySeconds;

/** Beside broken ones of its own group, two of the longest pauses. */
const mostDelayInGroupSeconds = 2 * settings.breakerMaxOpenSeconds + settings.pollEverySeconds;

const sameOutcomes: Invariant = {
  name: 'non-interference',
  rule: 'A healthy extraction has the outcome and the results that it has without its broken neighbours.',
  check: ({ population, extractions }, alone) => {
    for (const { extractionId } of population.members.filter(isHealthy)) {
      const is = outcomeOf(extractions.get(extractionId));
      const was = outcomeOf(alone.extractions.get(extractionId));
      if (is !== was) return `${extractionId} is "${is}", and without its neighbours "${was}".`;
    }
    return undefined;
  },
};

const boundedDelay: Invariant = {
  name: 'bounded-delay',
  rule: `Broken extractions of another caller or bank delay a healthy one by ${mostDelaySeconds} s at most, and those of its own by ${mostDelayInGroupSeconds} s.`,
  check: ({ population, extractions }, alone) => {
    const groupOf = ({ caller, entity }: Member): string => `${caller} ${entity}`;
    const broken = new Set(population.members.filter((one) => !isHealthy(one)).map(groupOf));
    for (const member of population.members.filter(isHealthy)) {
      const { extractionId } = member;
      const most = broken.has(groupOf(member)) ? mostDelayInGroupSeconds : mostDelaySeconds;
      const record = extractions.get(extractionId);
      const without = alone.extractions.get(extractionId);
      if (record === undefined || without === undefined) continue;
      const delay = secondsOf(record) - secondsOf(without);
      if (delay > most) return `${extractionId} is delayed by ${delay.toFixed(0)} s.`;
    }
    return undefined;
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

/** Those that need not wait until the broken ones are closed. */
export const whileOthersAreOpen: readonly Invariant[] = [ownResults, sameOutcomes, boundedDelay];

/** Those of broken and healthy extractions side by side. */
export const neighbourInvariants: readonly Invariant[] = [...whileOthersAreOpen, everyRecordCloses];

/** Those of outages of the whole provider. */
export const outageInvariants: readonly Invariant[] = [...breakerInvariants, ownResults, everyRecordCloses];
