import { ExtractionFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import type { Method } from '../read-options.ts';
import { runConsentDemo } from './run-consent-demo.ts';
import type { RunOutput } from './run-output.ts';
import { type DemoContext, showExtraction, showResults } from './show-extraction.ts';
import type { Watch } from './watch-system.ts';

/** The request that the demonstration, and the printed curl line, send: an outcome `COMPLETED` of the sandbox. */
export const demoRequest = {
  entity: 'demo-bank',
  credentials: {
    mode: 'raw',
    value: { businessId: '77777777-7', username: 'completed-both', password: 'any-will-do' },
  },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  reference: 'first-extraction',
};

/** A method takes about 6 s; the longest way, over a lost webhook and the poll, under 30 s. */
const deadlineMs = 60_000;

const demonstrations: Readonly<Record<Method, (context: DemoContext) => Promise<void>>> = {
  credentials: async (context) => showResults(await showExtraction(context, demoRequest), context),
  consent: runConsentDemo,
};

/**
 * Shows the service by each method, one after the other.
 *
 * @throws ExtractionFailed where one did not go as it should, or took too long
 */
export const runDemo = async (
  context: { system: LocalSystem; watch: Watch; show: RunOutput },
  methods: readonly Method[],
  stop: AbortSignal,
): Promise<void> => {
  for (const method of methods) {
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      await demonstrations[method]({ ...context, signal: AbortSignal.any([stop, deadline]) });
    } catch (error) {
      if (!deadline.aborted || stop.aborted) throw error;
      const seconds = deadlineMs / 1000;
      throw new ExtractionFailed(`The method ${method} was not shown to its end within ${seconds} s.`, {
        cause: error,
      });
    }
  }
};
