import { html } from 'hono/html';
import { shareOfFailures } from '../../health/read-health.ts';
import { describeHold, holdOf } from '../../terminal/describe-hold.ts';
import { describeWaiting, waitingIn } from '../../terminal/describe-rate.ts';
import { secondsSince } from '../../terminal/format-seconds.ts';
import { plural } from '../../terminal/plural.ts';
import { ago, type Html, inWords, shown } from '../format-for-page.ts';
import { countLastHour, type DeploymentState, heldIn, standingAt } from '../sources/read-state.ts';
import { type Hold, type Part, valueIn } from '../sources/sources.ts';
import { icon } from './icons-and-badges.ts';
import { focusOn, type Links } from './page-content-and-links.ts';

type Fact = { readonly text: Html | string; readonly kind?: 'trouble' | 'unknown' };

/** Who may be in trouble: Cosecha, the provider or a bank. `who` names it in a sentence. */
export type Side = { readonly name: string; readonly who: string; readonly facts: readonly Fact[] };

const trouble = (text: Html | string): Fact => ({ text, kind: 'trouble' });

/** A trouble that leads to its rows. */
const toList = (text: Html | string, filter: Readonly<Record<string, string>>, links: Links): Fact =>
  trouble(html`<a href="${links.list()}?${new URLSearchParams(filter)}${focusOn.result}">${text}</a>`);

/** The facts of a part, or that it could not be read: Health has the reason. */
const factsOf = <Value>(part: Part<Value>, name: string, view: (value: Value) => readonly Fact[]) =>
  part.kind === 'read' ? view(part.value) : [{ text: `${name} unknown`, kind: 'unknown' } as const];

/** `starts of orders for demo-bank have been held for 5 s, as the provider answers 503; next turn in 40 s. 12 extractions wait.` */
const describeHeld = (hold: Hold, { open }: DeploymentState, now: Date): Html => {
  const parts = describeHold(hold, {
    since: (at) => html`for ${ago(at, now, true)}`,
    next: (at) => ago(at, now),
  });
  const count = valueIn(open)?.filter((record) => holdOf(record, [hold]) !== undefined).length;
  const waiting = count === undefined ? '' : ` ${plural(count, 'extraction waits', 'extractions wait')}.`;
  return html`${parts.map((part) => (typeof part === 'string' ? shown(part, 400) : part))}.${waiting}`;
};

/** The first of these holds, and how many follow, which have been held for less long. */
export const describeHolds = (
  holds: readonly Hold[],
  most: number,
  state: DeploymentState,
  now: Date,
): readonly (Html | string)[] => {
  const rest = holds.length - most;
  const first = holds.slice(0, most).map((hold) => describeHeld(hold, state, now));
  return rest > 0 ? [...first, `${rest} more are held.`] : first;
};

const maxHolds = 3;

const holdsThat = (state: DeploymentState, isOf: (hold: Hold) => boolean, now: Date): readonly Fact[] =>
  describeHolds(heldIn(state).filter(isOf), maxHolds, state, now).map(trouble);

const describeUs = (
  state: DeploymentState,
  ours: readonly string[],
  links: Links,
  now: Date,
): readonly Fact[] => [
  ...ours.map(trouble),
  ...holdsThat(state, ({ kind }) => kind === 'paused', now),
  ...factsOf(state.open, 'what is open', (open) => {
    const late = open.filter(standingAt(state, now).isLate).length;
    return late === 0
      ? [{ text: 'nothing is overdue' }]
      : [toList(`${plural(late, 'extraction is', 'extractions are')} overdue`, { status: 'overdue' }, links)];
  }),
  // A new stage has none either. What a missing sweep leaves behind is overdue.
  ...factsOf(state.sweeps, 'sweeps', ({ items: [last] }) => [
    { text: last === undefined ? 'no sweep within an hour' : html`sweep ${ago(last, now)}` },
  ]),
  ...factsOf(state.queues, 'queues', (all) =>
    all.map(({ name, waiting, isDeadLetters }) => ({
      text: `${shown(name)} ${waiting.toLocaleString('en')}`,
      ...(isDeadLetters && waiting > 0 && ({ kind: 'trouble' } as const)),
    })),
  ),
];

type Failures = ReturnType<typeof countLastHour>;

/** More than the 5 % that may fail (docs/operations.md), also if the share is the least that chance explains. */
const isFailing = (counted: Failures[number]): boolean => shareOfFailures(counted).least > 0.05;

/** `10 of 12 failed at demo-bank in the last hour, since 11:20Z`. */
const describeFailures = (failing: Failures, links: Links): readonly Fact[] => {
  const [worst, ...others] = failing;
  if (worst === undefined) return [];
  const { subject, failed, ended, since } = worst;
  const more = others.length === 0 ? '' : `, and some at ${plural(others.length, 'other')}`;
  return [
    toList(
      `${failed.toLocaleString('en')} of ${ended.toLocaleString('en')} failed at ${shown(subject, 60)} in the last hour, since ${since.slice(11, 16)}Z${more}`,
      { status: 'failed', subject },
      links,
    ),
  ];
};

/** In seconds. A start takes one or two, so the provider has not accepted one that waits for longer. */
const usualStart = 60;

/** Below the failures that open a breaker, only what waits shows that starts are not accepted. */
const describeWaits = (state: DeploymentState, links: Links, now: Date): readonly Fact[] => {
  const { isInLine } = standingAt(state, now);
  const waiting = (valueIn(state.open) ?? [])
    .filter(
      (record) =>
        record.status === 'REQUESTED' &&
        !isInLine(record) &&
        holdOf(record, heldIn(state)) === undefined &&
        secondsSince(record.requestedAt, now) > usualStart,
    )
    .map(({ requestedAt }) => requestedAt)
    .toSorted();
  const [first] = waiting;
  if (first === undefined) return [];
  const oldest = waiting.length === 1 ? 'for' : 'the first for';
  return [
    toList(
      html`${plural(waiting.length, 'extraction waits', 'extractions wait')} to be started, ${oldest} ${ago(first, now, true)}`,
      { status: 'REQUESTED' },
      links,
    ),
  ];
};

/** A line is no trouble: each start in it is made in its turn. */
const describeLine = ({ rate }: DeploymentState, links: Links, now: Date): readonly Fact[] =>
  factsOf(rate, 'line', (known) =>
    waitingIn(known) === 0
      ? []
      : [{ text: html`<a href="${links.line()}">${describeWaiting(known, now)}</a>` }],
  );

/** What a breaker counts are calls to the provider, also where it holds those for one bank alone. */
const isOpen = ({ kind }: Hold): boolean => kind === 'open';

const describeProvider = (state: DeploymentState, now: Date): readonly Fact[] => [
  ...holdsThat(state, isOpen, now),
  ...factsOf(state.holds, 'breakers', (holds) =>
    holds.some(isOpen)
      ? []
      : [{ text: holds.length === 0 ? 'starts and reads pass' : 'nothing else is held' }],
  ),
];

const describeOthers = (counted: Failures): Fact => {
  const [ended, failed] = (['ended', 'failed'] as const).map((of) =>
    counted.reduce((sum, one) => sum + one[of], 0).toLocaleString('en'),
  );
  return { text: `${failed} of ${ended} failed in the last hour` };
};

/** Who is in trouble, from what every page reads. `ours`: what a page knows more of us. */
export const sidesOf = (
  state: DeploymentState,
  ours: readonly string[],
  links: Links,
  now: Date,
): readonly Side[] => {
  const counted = countLastHour(state, now);
  const failing = counted.filter(isFailing);
  // Where most banks fail, or most of one failed before the provider had its data, it is what they share.
  const areMost = failing.length > 1 && failing.length > counted.length / 2;
  const [ofBanks = [], ofProvider = []] = [true, false].map((isOfBank) =>
    failing.filter(({ atBank, failed }) => (!areMost && atBank >= failed / 2) === isOfBank),
  );
  const [bank] = ofBanks;
  const others = factsOf(state.recent, 'what ended', ({ items, complete }) => [
    ...(failing.length > 0 ? [] : [describeOthers(counted)]),
    ...(complete ? [] : [{ text: `of the newest ${plural(items.length, 'execution')}` }]),
  ]);
  return [
    { name: 'Us', who: 'us', facts: describeUs(state, ours, links, now) },
    {
      name: 'Provider',
      who: 'the provider',
      facts: [...describeFailures(ofProvider, links), ...describeProvider(state, now)],
    },
    {
      name: 'Banks',
      who: ofBanks.length === 1 ? `a bank (${shown(bank?.subject ?? '', 60)})` : `${ofBanks.length} banks`,
      facts: [...describeFailures(ofBanks, links), ...others],
    },
    {
      name: 'Starts',
      who: 'us or the provider',
      facts: [...describeWaits(state, links, now), ...describeLine(state, links, now)],
    },
  ];
};

/** `It is us and a bank (demo-bank).` Undefined if nobody is in trouble. */
export const whoseTrouble = (sides: readonly Side[]): string | undefined => {
  const troubled = sides.filter(({ facts }) => facts.some(({ kind }) => kind === 'trouble'));
  // A start that waits is a sign, and whose it is follows from the others.
  const certain = troubled.filter(({ name }) => name !== 'Starts');
  const who = (certain.length === 0 ? troubled : certain).map((side) => side.who);
  return who.length === 0 ? undefined : `It is ${inWords(who)}.`;
};

/** On every page, before anything else: is it us, the provider or a bank? */
export const statusLine = (...of: Parameters<typeof sidesOf>): Html => html`
<ul class="strip" aria-label="Is it us, the provider or a bank?">${sidesOf(...of)
  .filter(({ facts }) => facts.length > 0)
  .map((side) => {
    const isWrong = side.facts.some(({ kind }) => kind !== undefined);
    return html`<li class="side${isWrong ? ' late' : ''}">${icon(isWrong ? 'alert' : 'check')} <strong>${side.name}:</strong> ${side.facts.map(({ text, kind }, index) => html`<span${kind === undefined ? html` class="fact"` : ''}>${index === 0 ? '' : ' · '}${text}</span>`)}</li>`;
  })}</ul>`;
