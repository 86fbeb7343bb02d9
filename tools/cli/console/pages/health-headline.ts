import { failingSince } from '../../health/describe-health.ts';
import { type SubjectHealth, shareOfFailures } from '../../health/read-health.ts';
import { waitingIn } from '../../terminal/describe-rate.ts';
import { formatSeconds, secondsSince } from '../../terminal/format-seconds.ts';
import { callerName } from '../../terminal/operator-view.ts';
import { plural, shown } from '../format-for-page.ts';
import {
  type AlarmLine,
  type FindingLine,
  type Hold,
  type Part,
  type SubjectsReport,
  valueIn,
} from '../sources/sources.ts';
import { type DeploymentState, heldIn } from './health-banner-and-strip.ts';

type Parts = DeploymentState & {
  readonly findings: Part<readonly FindingLine[]>;
  readonly alarms: Part<readonly AlarmLine[]>;
  readonly subjects: Part<SubjectsReport>;
};

/** `for 5 min`: as a headline has it, without the seconds of an hour. */
const lasting = (since: string, now: Date): string =>
  `for ${formatSeconds(Math.max(0, secondsSince(since, now)))}`;

const nameOf = (hold: Hold): string => {
  if (hold.kind === 'paused') return '';
  const at = hold.group === undefined ? '' : ` for ${shown(hold.group, 60)}`;
  return ` of ${shown(callerName(hold.caller), 60)}${at}`;
};

/** `Starts of orders for demo-bank are held for 5 min, and 2 others.` */
const describeHeld = (parts: Parts, now: Date): string[] => {
  const [worst, ...others] = heldIn(parts);
  if (worst === undefined) return [];
  const calls = worst.calls === 'starts' ? 'Starts' : 'Reads';
  const held = worst.kind === 'paused' ? 'paused' : 'held';
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'other')}`;
  return [`${calls}${nameOf(worst)} have been ${held} ${lasting(worst.since, now)}${more}.`];
};

/** More than the 5 % that may fail (docs/operations.md), also if the share is the least that chance explains. */
const isFailing = ({ lastHour }: SubjectHealth): boolean =>
  lastHour.failed > 0 && shareOfFailures(lastHour).least > 0.05;

/** `6 of 20 failed at demo-bank in the last hour, since 11:20Z, and some at 2 others.` */
const describeFailing = ({ subjects }: Parts): string[] => {
  const [worst, ...others] = (valueIn(subjects)?.subjects ?? []).filter(isFailing);
  if (worst === undefined) return [];
  const { ended, failed } = worst.lastHour;
  const counts = `${failed.toLocaleString('en')} of ${ended.toLocaleString('en')}`;
  const more = others.length === 0 ? '' : `, and some at ${plural(others.length, 'other')}`;
  return [`${counts} failed at ${shown(worst.subject, 60)} in the last hour${failingSince(worst)}${more}.`];
};

/** It waits for the provider's rate, and nobody has to do anything. */
const describeLine = ({ rate }: Parts): string[] => {
  const known = valueIn(rate);
  const waiting = known === undefined ? 0 : waitingIn(known);
  return waiting === 0 ? [] : [`${plural(waiting, 'start waits', 'starts wait')} in line.`];
};

/** In seconds. A start takes one or two, so the provider has not accepted one that waits for longer. */
const usualStart = 60;

/** Below the failures that open a breaker, only what waits shows that the provider is down. */
const describeWaiting = ({ open, rate }: Parts, now: Date): string[] => {
  const lanes = valueIn(rate)?.lanes ?? [];
  const inLine = new Set(lanes.flatMap((lane) => lane.waiting.map(({ extractionId }) => extractionId)));
  const waiting = (valueIn(open) ?? [])
    .filter(
      ({ status, requestedAt, extractionId }) =>
        status === 'REQUESTED' && !inLine.has(extractionId) && secondsSince(requestedAt, now) > usualStart,
    )
    .toSorted((one, other) => one.requestedAt.localeCompare(other.requestedAt));
  const [first] = waiting;
  if (first === undefined) return [];
  const wait = waiting.length === 1 ? 'waits' : 'wait';
  const oldest = waiting.length === 1 ? '' : 'the first ';
  return [
    `${plural(waiting.length, 'extraction')} ${wait} to be started, ${oldest}${lasting(first.requestedAt, now)}.`,
  ];
};

/** `the check overdue`, `the checks overdue and sweep`. The first three are named, the rest are counted. */
const named = (kind: string, names: readonly string[]): string => {
  const shownNames = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} others`] : names;
  return `the ${kind}${names.length === 1 ? '' : 's'} ${shownNames.join(', ').replace(/, ([^,]*)$/, ' and $1')}`;
};

/** Checks that failed, and alarms with how long the first has been in ALARM. */
const describeChecks = ({ findings, alarms }: Parts, now: Date): string[] => {
  const failed = valueIn(findings)?.filter(({ result }) => result === 'failed') ?? [];
  const alarming = valueIn(alarms)?.filter(({ state }) => state === 'ALARM') ?? [];
  const checks = named(
    'check',
    failed.map(({ id }) => id),
  );
  const names = named(
    'alarm',
    alarming.map(({ name }) => shown(name, 80)),
  );
  const [first] = alarming.flatMap(({ since }) => since ?? []).toSorted();
  const long = first === undefined ? '' : ` ${lasting(first, now)}`;
  const parts = [
    ...(failed.length === 0 ? [] : [`${checks} failed`]),
    ...(alarming.length === 0 ? [] : [`${names} ${alarming.length === 1 ? 'is' : 'are'} in ALARM${long}`]),
  ];
  const text = parts.join(', and ');
  return text === '' ? [] : [`${text.charAt(0).toUpperCase()}${text.slice(1)}.`];
};

/** An emulator on a machine with too much work fails no check, and starts too late all the same. */
export const isLoaded = ({ id, result }: FindingLine) => id === 'emulator-load' && result === 'skipped';

/** What is wrong, the worst first, with its name, number and since when. Only if nothing is, that all is well. */
export const headline = (parts: Parts, now: Date): string => {
  const { findings, alarms, subjects, holds, open, rate } = parts;
  const isAllRead = [findings, alarms, subjects, holds, open, rate].every(({ kind }) => kind === 'read');
  const troubles = [
    ...describeHeld(parts, now),
    ...describeFailing(parts),
    ...describeWaiting(parts, now),
    ...describeLine(parts),
    ...describeChecks(parts, now),
    ...(valueIn(findings) ?? []).filter(isLoaded).map(({ message }) => `The ${message}.`),
    ...(isAllRead ? [] : ['Not everything could be checked.']),
  ];
  return troubles.length === 0
    ? 'All checks passed, no alarm is in ALARM, and no extraction fails or waits.'
    : troubles.join(' ');
};
