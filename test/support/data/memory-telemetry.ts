import type { MetricName } from '#lib/observability/metric-names.ts';
import type { Telemetry } from '#lib/observability/telemetry.ts';

/**
 * A telemetry that keeps what is reported, in order: metrics in `counted`, messages in `messages` and `failures`. The two
 * durations of an extraction and its failure are in `measured`, and the lines that go with them in `progress`.
 */
export const memoryTelemetry = (onMessage: (message: string) => void = () => undefined) => {
  const counted: MetricName[] = [];
  const messages: string[] = [];
  const failures: string[] = [];
  const measured: [MetricName, number][] = [];
  const progress: [string, Readonly<Record<string, unknown>>][] = [];
  const telemetry: Telemetry = {
    about: () => undefined,
    log: (message, facts = {}) => {
      if (
        /^(Extraction (requested|started|ended)|Outcome corrected|Error codes collected)\.$/.test(message)
      ) {
        progress.push([message, facts]);
        return;
      }
      messages.push(message);
      onMessage(message);
    },
    failure: (what) => {
      failures.push(what);
      onMessage(what);
    },
    count: (metric, { value = 1 } = {}) => {
      if (/^(SecondsTo|OutcomeFailed$)/.test(metric)) measured.push([metric, value]);
      else if (value > 0) counted.push(metric);
    },
  };
  return { counted, measured, progress, messages, failures, telemetry };
};
