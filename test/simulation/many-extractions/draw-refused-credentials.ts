import { defined } from '#lib/defined.ts';
import { type TerminalStatus, terminalStatuses } from '#lib/extraction/record.ts';
import type { Random } from '../../support/data/random.ts';
import { type Member, member, type Population } from './draw-population.ts';

const callers = ['arn:aws:iam::111122223333:role/Caller', 'arn:aws:iam::111122223333:role/Other'] as const;

/** The same login twice, written in two ways and with a one-time code, and another password. */
const values = [
  { username: '9.007.928-K', password: 'x' },
  { password: 'x', code: '1', username: '9007928k' },
  { username: '9.007.928-K', password: 'y' },
];

const refused: TerminalStatus = 'CREDENTIALS_WRONG';

/** Once everything is settled, a delivery comes with another status. */
const disagreeing = { replayedAfter: 20_000, replayedAs: refused };

/**
 * Random extractions of one login: two or three of one caller, entity and password, and at times one that differs in one of them.
 * Calls of tables lose their answers and processes; deliveries are lost, late, replayed, and replayed with another status; clocks are
 * ahead; starts are held by a provider that cannot be reached; and an operator may forget all refusals, or erase one extraction.
 */
export const drawRefusals = (random: Random): Population => {
  if (random.below(4) === 0) return drawStory(random);
  const within = random.pick([1, 60, 600, 3_600]);
  const oftenRefused = random.below(4) > 0;
  const size = random.pick([2, 3, 3, 4]);
  const members = Array.from({ length: size }, (_, index): Member => {
    const differs =
      index > 1 && random.below(2) === 0 ? random.pick(['caller', 'entity', 'value']) : 'nothing';
    const value = values[differs === 'value' ? 2 : random.below(2)] ?? {};
    return member(index, random.below(within), {
      caller: callers[differs === 'caller' ? 1 : 0],
      entity: differs === 'entity' ? 'other-bank' : 'bank',
      takes: random.pick([2, 20, 200]),
      delivered: random.below(4) > 0,
      raw: { value, ...(random.below(4) === 0 ? { confirmed: true } : {}) },
      ends: oftenRefused && random.below(3) > 0 ? refused : random.pick(terminalStatuses),
      ...(random.below(2) === 0 ? { replayedAfter: random.pick([10, 300, 3_600, 20_000]) } : {}),
      ...(random.below(4) === 0 ? disagreeing : {}),
      reconciledAfter: random.pick([0.7, 1, 1.5, 2]),
    });
  });
  const from = random.below(within);
  const lossOneIn = random.pick([undefined, 30, 10]);
  return {
    members,
    outages:
      random.below(3) === 0
        ? [{ trouble: 'refuses', from, to: from + random.pick([30, 300]), calls: ['start'] }]
        : [],
    consumers: 10,
    // A day, and half an hour.
    keptDays: random.pick([1, 1, 1 / 48]),
    ...(random.below(4) === 0 ? { forgetsAt: random.below(2 * within) } : {}),
    ...(random.below(3) === 0 ? { erasesAt: random.below(2 * within) } : {}),
    ...(random.below(3) === 0 ? { clocksAhead: 180 } : {}),
    ...defined({ lossOneIn }),
  };
};

/** One after the other: a refusal, a confirmed one, and another that is not confirmed. */
const drawStory = (random: Random): Population => {
  const apart = random.pick([30, 60, 300, 1_000]);
  const confirmed = random.pick<TerminalStatus>(['COMPLETED', refused, ...terminalStatuses]);
  const ends = [refused, confirmed, random.pick(terminalStatuses)];
  const members = ends.map((status, index) =>
    member(index, index * apart, {
      takes: random.pick([2, 20]),
      delivered: random.below(4) > 0,
      raw: { value: values[0] ?? {}, ...(index === 1 ? { confirmed: true } : {}) },
      ends: status,
      ...(random.below(2) === 0 ? { replayedAfter: random.pick([300, 3_600]) } : {}),
    }),
  );
  const lossOneIn = random.pick([undefined, 30]);
  // At times two of the three are refused before the last one is requested, and one of them is erased.
  const erasesAt = random.pick([undefined, Math.round(apart * 1.9)]);
  const clocksAhead = random.pick([undefined, 180]);
  const rest = defined({ lossOneIn, erasesAt, clocksAhead });
  return { members, outages: [], consumers: 10, keptDays: 1, ...rest };
};

/** Until the last replay. */
export const lastsSeconds = ({ members }: Population): number =>
  Math.max(...members.map(({ at, takes, replayedAfter = 0 }) => at + takes + replayedAfter)) + 3_600;
