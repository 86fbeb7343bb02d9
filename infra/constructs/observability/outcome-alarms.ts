import { AlarmRule, AlarmState, CompositeAlarm, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import {
  type AlarmEntry,
  type AlarmsProps,
  createAlarm,
  failedShare,
  type NotifyingAlarm,
  namedAlarm,
} from './alarm.ts';
import type { CosechaMetrics } from './metrics.ts';

/** Of all outcomes, in percent, those that should not fail (`judgeOutcome`). The rest is the error budget: 5 %. */
const target = 95;

/**
 * At a low volume, one failure is a large share. So the long window needs 5 failures: 1 of 2 raises no alarm, 5 of 6 do. The
 * short one needs none, as it only shows whether they go on.
 */
const fewestFailures = 5;

type Window = { readonly minutes: number; readonly atLeast: number };

/** The alarm is on while the share of failures is over `percent` in both windows. */
type BurnRate = {
  readonly id: string;
  readonly symptom: string;
  readonly pages?: true;
  readonly windows: readonly Window[];
  readonly percent: number;
};

/**
 * Multiple windows and burn rates: https://sre.google/workbook/alerting-on-slos/ ("Multiwindow, Multi-Burn-Rate Alerts"). The
 * short window ends the alarm soon after the failures end.
 *
 * - fast: 14.4 times the budget, 14.4 × 5 = 72 %. An hour of it uses 14.4 / 720 = 2 % of the budget of 30 days.
 * - slow: 6 times the budget, 6 × 5 = 30 %. Six hours of it use 6 × 6 / 720 = 5 %.
 */
const burnRates: readonly BurnRate[] = [
  {
    id: 'outcomes-failing-fast',
    pages: true,
    symptom:
      'Callers lack bank data: most extractions fail. `cosecha health` names the banks and the causes.',
    windows: [
      { minutes: 60, atLeast: fewestFailures },
      { minutes: 5, atLeast: 1 },
    ],
    percent: 14.4 * (100 - target),
  },
  {
    id: 'outcomes-failing-slowly',
    symptom: 'Callers lack bank data: for hours, many extractions fail. `cosecha health` names the banks.',
    windows: [
      { minutes: 360, atLeast: fewestFailures },
      { minutes: 30, atLeast: 1 },
    ],
    percent: 6 * (100 - target),
  },
];

const runbookEntry = 'outcomes-failing';

/** Alarms on how extractions end, over all of them. Each is a composite alarm, as one alarm has one window. */
export const outcomeAlarms = (
  scope: Construct,
  { config, metrics }: AlarmsProps,
): readonly NotifyingAlarm[] => {
  const outcomes = new Construct(scope, 'Outcomes');
  return burnRates.map((rate) => {
    const { id, symptom, pages, windows } = rate;
    const parts = windows.map((window) => createAlarm(outcomes, config, partOf(rate, window, metrics)));
    const { alarmName, alarmDescription } = namedAlarm(config, { id, symptom, runbookEntry });
    const alarm = new CompositeAlarm(outcomes, id, {
      compositeAlarmName: alarmName,
      alarmDescription,
      alarmRule: AlarmRule.allOf(...parts.map((part) => AlarmRule.fromAlarm(part, AlarmState.ALARM))),
    });
    return { alarm, pages };
  });
};

/**
 * Part of a composite alarm, which alone notifies somebody. Both metrics are published together, so that a period with a failure
 * has both. One without has no value, and is not breaching.
 */
const partOf = ({ id, percent }: BurnRate, window: Window, { custom }: CosechaMetrics): AlarmEntry => ({
  id: `${id}-over-${window.minutes}min`,
  runbookEntry,
  symptom: `A part of ${id}, which alone notifies somebody.`,
  // Every outcome has a time, and is one sample of it. A correction is an outcome more.
  metric: failedShare(custom('OutcomeFailed'), custom('SecondsToOutcome', Stats.SAMPLE_COUNT), window),
  threshold: percent,
});
