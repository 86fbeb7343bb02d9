import { nothingKept } from './answers/nothing-kept.ts';
import { agreesWithOpenapi } from './api/agrees-with-openapi.ts';
import { nothingEchoed } from './api/nothing-echoed.ts';
import { readExtraction } from './api/read-extraction.ts';
import { repeatedRequests } from './api/repeated-requests.ts';
import { requestErasure } from './api/request-erasure.ts';
import { consentRoutes } from './consents/consent-routes.ts';
import { oneMac } from './credentials/one-mac.ts';
import type { FuzzProperty } from './property.ts';
import { sameAsJsonParse } from './reads/same-as-json-parse.ts';
import { agreesWithOracle } from './webhook/agrees-with-oracle.ts';
import { failingDependency } from './webhook/failing-dependency.ts';
import { keyRotation } from './webhook/key-rotation.ts';
import { unverifiedIsNotDecrypted } from './webhook/unverified-is-not-decrypted.ts';

/** Every property, in the order in which they run. */
export const properties: readonly FuzzProperty[] = [
  agreesWithOracle,
  unverifiedIsNotDecrypted,
  failingDependency,
  keyRotation,
  agreesWithOpenapi,
  nothingEchoed,
  repeatedRequests,
  readExtraction,
  requestErasure,
  oneMac,
  consentRoutes,
  sameAsJsonParse,
  nothingKept,
];

/** How many of `cases` each property gets, by its weight. */
export const shareCases = (
  properties: readonly FuzzProperty[],
  cases: number,
): ReadonlyMap<string, number> => {
  const weights = properties.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(properties.map(({ name, weight }) => [name, Math.ceil((cases * weight) / weights)]));
};
