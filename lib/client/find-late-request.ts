import { ciphertextSeconds } from '../ciphertext-seconds.ts';
import type { ExtractionRequest } from './request-extraction.ts';

/** What is known about the line in which a batch will wait, for example from `cosecha rate`. */
export type KnownLine = {
  /** The rate: how many starts a second the deployment makes. */
  readonly startsPerSecond: number;
  /** How many starts are in line already. */
  readonly inLine?: number;
  /** The setting of the deployment. Default 6 h, as in the settings. */
  readonly maxWaitSeconds?: number;
};

const isEncrypted = (request: ExtractionRequest): boolean =>
  'credentials' in request && request.credentials.mode === 'encrypted';

/**
 * A sentence why the request at this position, from 0, will not be started in time. It contains nothing of the request. Otherwise
 * undefined.
 */
export const findLateRequest = (
  request: ExtractionRequest,
  index: number,
  { startsPerSecond, inLine = 0, maxWaitSeconds = 21_600 }: KnownLine,
): string | undefined => {
  const seconds = (inLine + index) / startsPerSecond;
  const minutes = Math.ceil(seconds / 60);
  const waits = `Request ${index + 1} of the batch would be started after ${minutes} minutes`;
  if (isEncrypted(request) && seconds > ciphertextSeconds)
    return `${waits}, and its encrypted credentials are valid for ${ciphertextSeconds / 60}. It would end NOT_STARTED with ciphertext-expired. Encrypt and send at most ${Math.floor(startsPerSecond * ciphertextSeconds)} in an hour.`;
  if (seconds > maxWaitSeconds)
    return `${waits}, and may wait for ${maxWaitSeconds / 60}. It would end NOT_STARTED with waited-too-long. Send it later.`;
  return undefined;
};
