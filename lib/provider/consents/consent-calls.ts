/** Only in the published client (docs/provider-client.md). */

import type { ClientContext, WithTaskToken } from '../client-context.ts';
import { type ExtractionReading, pollExtraction } from '../extractions/poll-extraction.ts';
import { type ExtractionReadingV2, pollExtractionV2 } from '../extractions/poll-extraction-v2.ts';
import { type RetrievedData, retrieveData } from '../extractions/retrieve-data.ts';
import {
  type StartExtractionRequest,
  startExtraction,
  startExtractionV2,
} from '../extractions/start-extraction.ts';
import { waitForExtraction } from '../extractions/wait-for-extraction.ts';
import { waitForExtractionV2 } from '../extractions/wait-for-extraction-v2.ts';
import type { WaitOptions } from '../transport/wait-until.ts';
import { type Consent, getConsent } from './get-consent.ts';
import { type ConsentPdf, getConsentPdf } from './get-consent-pdf.ts';
import { iterateConsents } from './iterate-consents.ts';
import { type ConsentPage, type ConsentQuery, listConsents } from './list-consents.ts';
import { type RevokedConsent, revokeConsent } from './revoke-consent.ts';

export const consentCalls = ({ connection, waiting }: ClientContext) => ({
  listConsents: ({ taskToken }: WithTaskToken, query?: ConsentQuery): Promise<ConsentPage> =>
    listConsents(connection, taskToken, query),

  iterateConsents: (
    { taskToken }: WithTaskToken,
    query?: Omit<ConsentQuery, 'page'>,
  ): AsyncGenerator<Consent, void, undefined> => iterateConsents(connection, taskToken, query),

  getConsent: ({ taskToken }: WithTaskToken, consentId: string): Promise<Consent> =>
    getConsent(connection, taskToken, consentId),

  getConsentPdf: ({ taskToken }: WithTaskToken, consentId: string): Promise<ConsentPdf> =>
    getConsentPdf(connection, taskToken, consentId),

  revokeConsent: ({ taskToken }: WithTaskToken, consentId: string): Promise<RevokedConsent> =>
    revokeConsent(connection, taskToken, consentId),

  startExtraction: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
    startExtraction(connection, taskToken, request),

  pollExtraction: ({ taskToken }: WithTaskToken, taskId: string): Promise<ExtractionReading> =>
    pollExtraction(connection, taskToken, taskId),

  waitForExtraction: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
    waitForExtraction(connection, taskToken, taskId, waiting(options)),

  /** @deprecated In favour of `startExtraction` and `waitForExtraction`. */
  retrieveData: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<RetrievedData> =>
    retrieveData(connection, taskToken, request),

  startExtractionV2: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
    startExtractionV2(connection, taskToken, request),

  pollExtractionV2: ({ taskToken }: WithTaskToken, taskId: string): Promise<ExtractionReadingV2> =>
    pollExtractionV2(connection, taskToken, taskId),

  waitForExtractionV2: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
    waitForExtractionV2(connection, taskToken, taskId, waiting(options)),
});
