import { defined } from '../../../lib/defined.ts';
import type { Advice, ConsentExtraction, Extraction } from '../../../lib/extraction/record.ts';
import { isSameName } from '../../../lib/extraction/spellings.ts';
import { isNationalId } from '../../../lib/provider/national-id.ts';
import { currentAdvice } from '../aws/find-extractions.ts';
import { CliError } from '../terminal/errors.ts';
import { credentialsField, parseJson } from './build-extraction-request.ts';

/** The request that a record was made for. Its credentials or national id are gone, so that the operator enters them. */
export const requestOf = (record: Extraction, secret: string): unknown => {
  const { reference, batch, priority } = record;
  const names = defined({ reference, batch, priority });
  if (record.method === 'consent') {
    const { method, product, consentId, variant } = record;
    return { method, product, consentId, variant, target: secret, ...names };
  }
  const { entity, actions } = record;
  const credentials = credentialsField(parseJson(secret, 'The credentials'));
  return { entity, actions, credentials, ...names };
};

/** Of an extraction it is the same for the console and the command line, so that none is requested again twice. */
export const againKey = ({ extractionId }: Extraction): string => `again-${extractionId}`;

export const isRequestable = (record: Extraction): record is ConsentExtraction =>
  record.method === 'consent' && record.dueShard === undefined;

/** The national id of each consent, as they were entered. No message has one of them. */
export const parseNationalIds = (secret: string): ReadonlyMap<string, string> => {
  const json = parseJson(secret, 'What was entered');
  const entries =
    typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.entries(json) : [];
  const isEach = entries.every(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && isNationalId(entry[1]),
  );
  if (isEach && entries.length > 0) return new Map(entries);
  throw new CliError(
    'What was entered is not a JSON object that has a national id with its check digit for each consentId. Nothing was requested.',
  );
};

/** How long the provider or the bank needs, of the advice `request-later`. */
const laterMs = 3_600_000;

const userActs: readonly Advice[] = ['ask-user', 'renew-consent'];

/**
 * What becomes of an extraction. `request`: by consent, and nobody has to act first. `ask`: its user has to enter credentials, or give a consent.
 * Anything else is why it is left out: a task may run, somebody else has to act, or it is too early.
 *
 * @param batch the new one: what it has was requested again before
 */
export const againOf = (record: Extraction, batch: string, now: Date): string => {
  const advice = currentAdvice(record);
  if (record.dueShard !== undefined || advice === undefined) return 'open';
  if (isSameName(record.batch, batch)) return 'of the new batch';
  if (userActs.includes(advice)) return 'ask';
  const mayNow = now.getTime() - Date.parse(record.settledAt ?? '') >= laterMs;
  if (advice !== 'request-again' && !(advice === 'request-later' && mayNow)) return advice;
  return record.method === 'consent' ? 'request' : 'ask';
};
