import type { Journal } from '../../lib/extraction/journal.ts';
import type { MetricName } from '../../lib/observability/metric-names.ts';

/** A journal that keeps what is reported, in order: metrics in `counted`, messages in `messages` and `failures`. */
export const memoryJournal = (onMessage: (message: string) => void = () => undefined) => {
  const counted: MetricName[] = [];
  const messages: string[] = [];
  const failures: string[] = [];
  const journal: Journal = {
    about: () => undefined,
    info: (message) => {
      messages.push(message);
      onMessage(message);
    },
    failure: (what) => {
      failures.push(what);
      onMessage(what);
    },
    count: (metric) => void counted.push(metric),
  };
  return { counted, messages, failures, journal };
};
