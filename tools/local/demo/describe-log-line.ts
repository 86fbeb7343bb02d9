import type { Description } from './describe-system-event.ts';
import { shortId } from './name-extractions.ts';

/** The functions whose every log line is shown: they answer requests, which nothing else reports. */
const apiFunctions = ['request-extraction', 'get-extraction', 'manage-consents', 'receive-webhook'];

/** The facts of a log line that are shown. The functions log no secret (lib/observability). */
const shown = ['route', 'status', 'outcome', 'reason', 'metric'];

type LogFacts = Readonly<Record<string, unknown>>;

const parse = (message: string): LogFacts => {
  try {
    const facts: unknown = JSON.parse(message);
    return typeof facts === 'object' && facts !== null ? (facts as LogFacts) : {};
  } catch {
    return {};
  }
};

/**
 * One line for the terminal: what the API and the webhook have answered, and what any function warns of. Undefined for
 * other lines, such as those of the Lambda runtime, and for accepted deliveries, which the sandbox's own line reports.
 */
export const describeLogLine = (message: string): (Description & { name?: string }) | undefined => {
  const facts = parse(message);
  const { service, level, message: sentence, extractionId, recorded } = facts;
  if (typeof service !== 'string' || typeof sentence !== 'string' || recorded !== undefined) return undefined;
  if (level === 'INFO' && !apiFunctions.includes(service)) return undefined;
  // The line of the stream reports it.
  if (sentence === 'Extraction ended.') return undefined;
  const details = shown.flatMap((name) =>
    facts[name] === undefined ? [] : `${name} ${String(facts[name])}`,
  );
  return {
    subject: level === 'INFO' ? 'api' : 'log',
    text: [`${service}: ${sentence}`, ...details].join('  '),
    ...(typeof extractionId === 'string' && { name: shortId(extractionId) }),
  };
};
