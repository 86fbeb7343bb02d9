import { randomOf } from '../../support/random.ts';
import { Fleet } from './fleet.ts';
import { countsOf } from './invariants.ts';
import type { Outage, Trouble } from './outage.ts';

/** A million a day, a second. */
const perSecond = 11.6;

const minutes = 5;

const outages: readonly (readonly [Trouble, loginsFail: boolean])[] = [
  ['refuses', true],
  ['answers 503', false],
  ['answers 503', true],
  ['hangs', false],
  ['hangs', true],
];

/** Runs outages of five minutes at a million extractions a day, and prints what each takes, as rows of a table. */
export const printOutages = async (print: (line: string) => void): Promise<void> => {
  for (const [trouble, loginsFail] of outages) {
    const requestedUntil = 60 + 60 * minutes;
    const outage: Outage = {
      trouble,
      loginsFail,
      from: 20,
      to: 20 + 60 * minutes,
      extractions: Math.round(perSecond * requestedUntil),
      requestedUntil,
      together: 1,
      refusedOneIn: 1_000_000,
      lossOneIn: 1_000_000_000,
    };
    const fleet = new Fleet(outage, randomOf(1));
    await fleet.run();
    const { unconfirmed, probes } = countsOf(fleet);
    const failed = fleet.provider.calls.filter(({ result }) => result === 'trouble').length;
    const where = loginsFail ? 'logins and starts' : 'starts';
    print(
      `| ${trouble} | ${where} | ${outage.extractions} | ${failed} | ${probes} | ${unconfirmed} | ${fleet.mostAtOnce} |`,
    );
  }
};
