import { taskSeconds } from '../../assumptions.ts';
import { type Charge, times } from './charge.ts';
import { FURTHER_POLL } from './path-charges.ts';

/** An alternative design of the machine, calculated. The parts that it shares with ours are measured. */
export type Design = { readonly name: string; readonly charges: readonly Charge[] };

const transitions = (quantity: number, what: string): Charge => ({
  where: 'machine',
  what,
  price: 'transition',
  quantity,
});

const withoutTransitions = (charges: readonly Charge[]): readonly Charge[] =>
  charges.filter(({ price }) => price !== 'transition');

/** The charges without the webhook, but with its write of the outcome. */
const withoutWebhook = (charges: readonly Charge[]): readonly Charge[] =>
  charges.filter(
    ({ where, what }) => where !== 'receive-webhook' || what.startsWith('Extractions UpdateItem'),
  );

const NAIVE_POLL_SECONDS = 5;
/** Wait, Poll, Choice. */
const STATES_OF_A_ROUND = 3;

/**
 * A Standard machine without a webhook: Start, then every 5 s Wait, Poll and Choice until the task has ended, then
 * Collect. 60 s are 12 rounds: 1 + 36 + 1 transitions. A poll costs as much as one of ours that finds the task running,
 * without our error.
 */
export const naivePolling = (happy: readonly Charge[], polled: readonly Charge[]): Design => {
  const rounds = taskSeconds / NAIVE_POLL_SECONDS;
  const poll = polled.filter(
    ({ where, what }) => where === FURTHER_POLL && what !== "the runtime's log of an error",
  );
  const polls = poll.find(({ what }) => what === 'request')?.quantity ?? 1;
  return {
    name: `naive polling, every ${NAIVE_POLL_SECONDS} s`,
    charges: [
      transitions(1 + rounds * STATES_OF_A_ROUND + 1, 'Start, 12 × (Wait, Poll, Choice), Collect'),
      ...withoutWebhook(withoutTransitions(happy)),
      ...times(poll, rounds / polls),
    ],
  };
};

/**
 * The obvious design: a callback state, and a state for each later step. Start, Read, Choice, Store, Record are five
 * transitions and two more invocations than ours, counted as requests only.
 */
export const fiveStates = (happy: readonly Charge[]): Design => ({
  name: 'five states and a callback',
  charges: [
    transitions(5, 'Start, Read, Choice, Store, Record'),
    ...withoutTransitions(happy),
    { where: 'two more functions', what: 'request', price: 'invocation', quantity: 2 },
  ],
});
