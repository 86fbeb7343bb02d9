import { type Entry, isPoll } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import type { Sample } from '../run/extract.ts';

const callsProvider = ({ function: name, calls }: Entry, operation: 'GET' | 'POST'): boolean =>
  name === 'reconcile-extraction' &&
  calls.some((call) => call.service === 'provider' && call.operation === operation);

const medianCpu = (entries: readonly Entry[]): number =>
  entries.length === 0 ? 0 : median(entries.map(({ cpuMs }) => cpuMs));

/**
 * The samples by consent with a Task Token for each read of the provider. In a run only the first poll needs one, because all
 * are made by the same process within seconds. On AWS they are made by any of many processes, and a token is kept by one.
 */
export const withTaskTokens = (samples: readonly Sample[]): readonly Sample[] => {
  const polls = samples.flatMap(({ entries }) => entries).filter(isPoll);
  const cpuMs = Math.max(
    0,
    medianCpu(polls.filter((entry) => callsProvider(entry, 'POST'))) -
      medianCpu(polls.filter((entry) => !callsProvider(entry, 'POST'))),
  );
  const withToken = (entry: Entry): Entry => {
    if (!callsProvider(entry, 'GET') || callsProvider(entry, 'POST')) return entry;
    // At a time of its own, because of simultaneous waits only the longest counts.
    const at = { startedAt: entry.endedAt + 1, endedAt: entry.endedAt + 1 };
    const created = { service: 'provider', operation: 'POST', statusCode: 200, answerBytes: 0, ...at };
    return { ...entry, cpuMs: entry.cpuMs + cpuMs, calls: [...entry.calls, created] };
  };
  return samples.map((sample) => ({ ...sample, entries: sample.entries.map(withToken) }));
};
