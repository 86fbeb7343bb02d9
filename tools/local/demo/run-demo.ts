import { ExtractionFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import type { Method } from '../read-options.ts';
import { runConsentDemo } from './run-consent-demo.ts';
import type { RunOutput } from './run-output.ts';
import { type DemoContext, showExtraction, showResults } from './show-extraction.ts';
import type { Watch } from './watch-system.ts';

/** The request of the demo and of the printed curl line. Its outcome in the sandbox is `COMPLETED`. */
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

/** A method takes about 6 s, and less than 30 s if the webhook is lost and the machine polls. */
const deadlineMs = 60_000;

const titles: Readonly<Record<Method, string>> = {
  credentials: "an extraction with a user's credentials",
  consent: "an extraction by a user's consent, without credentials",
};

const demos: Readonly<Record<Method, (context: DemoContext) => Promise<void>>> = {
  credentials: async (context) => showResults(await showExtraction(context, demoRequest), context),
  consent: runConsentDemo,
};

/**
 * Shows each method, one after the other.
 *
 * @throws ExtractionFailed if one has another result than expected, or takes too long
 */
export const runDemo = async (
  context: { system: LocalSystem; watch: Watch; show: RunOutput },
  methods: readonly Method[],
  stop: AbortSignal,
): Promise<void> => {
  for (const method of methods) {
    const deadline = AbortSignal.timeout(deadlineMs);
    context.show.note('demo', titles[method]);
    try {
      await demos[method]({ ...context, signal: AbortSignal.any([stop, deadline]) });
    } catch (error) {
      if (!deadline.aborted || stop.aborted) throw error;
      const seconds = deadlineMs / 1000;
      throw new ExtractionFailed(`The demo of the method ${method} took more than ${seconds} s.`, {
        cause: error,
      });
    }
  }
};
