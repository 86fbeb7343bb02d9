import type { MetricName } from '../../lib/observability/metric-names.ts';
import type { Telemetry } from '../../lib/observability/telemetry.ts';

/** A telemetry that keeps what is reported, in order: metrics in `counted`, messages in `messages` and `failures`. */
export const memoryTelemetry = (onMessage: (message: string) => void = () => undefined) => {
  const counted: MetricName[] = [];
  const messages: string[] = [];
  const failures: string[] = [];
  const telemetry: Telemetry = {
    about: () => undefined,
    log: (message) => {
      messages.push(message);
      onMessage(message);
    },
    failure: (what) => {
      failures.push(what);
      onMessage(what);
    },
    count: (metric, { value = 1 } = {}) => {
      if (value > 0) counted.push(metric);
    },
  };
  return { counted, messages, failures, telemetry };
};
