import type { Rule } from '../aws/read-rules.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where a rule is disabled, or none has the schedule of the sweep. */
export const checkRules = (rules: readonly Rule[]): Finding => {
  const disabled = rules.filter(({ enabled }) => !enabled);
  if (disabled.length > 0) {
    const [{ everyMinutes } = {}] = disabled.toSorted((one) => (one.everyMinutes === undefined ? 1 : -1));
    const effect =
      everyMinutes === undefined
        ? 'Until it is enabled, broken executions wait for the sweep.'
        : 'Without the sweep nothing is guaranteed to end.';
    const names = disabled.map(({ name }) => name);
    return failed(
      `disabled: ${names.join(', ')}`,
      `${effect} Run ${names.map((name) => `aws events enable-rule --name ${name}`).join(' && ')}`,
    );
  }
  const schedule = rules.find(({ everyMinutes }) => everyMinutes !== undefined);
  if (schedule === undefined) {
    return failed('no rule has a schedule', 'No sweep runs. Deploy the stack again.');
  }
  return passed(
    `rules are ENABLED: the sweep every ${schedule.everyMinutes} min, and ${rules.length - 1} other`,
  );
};
