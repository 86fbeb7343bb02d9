import type { ClientContext, Holder } from './client-context.ts';
import type { Consent } from './consent.ts';
import type { ExtractionRequest } from './extraction-request.ts';
import { getConsent } from './get-consent.ts';
import { type ConsentPdf, getConsentPdf } from './get-consent-pdf.ts';
import { iterateConsents } from './iterate-consents.ts';
import { type ConsentPage, type ConsentQuery, listConsents } from './list-consents.ts';
import { type ExtractionReading, pollExtraction } from './poll-extraction.ts';
import { type ExtractionReadingV2, pollExtractionV2 } from './poll-extraction-v2.ts';
import { type RetrievedData, retrieveData } from './retrieve-data.ts';
import { type RevokedConsent, revokeConsent } from './revoke-consent.ts';
import { startExtraction } from './start-extraction.ts';
import { startExtractionV2 } from './start-extraction-v2.ts';
import { waitForExtraction } from './wait-for-extraction.ts';
import { waitForExtractionV2 } from './wait-for-extraction-v2.ts';
import type { WaitOptions } from './wait-until.ts';

/** Consents and what is extracted under them: every call with a Task Token. */
export const consentCalls = ({ connection, waiting }: ClientContext) => ({
  listConsents: ({ taskToken }: Holder, query?: ConsentQuery): Promise<ConsentPage> =>
    listConsents(connection, taskToken, query),

  iterateConsents: (
    { taskToken }: Holder,
    query?: Omit<ConsentQuery, 'page'>,
  ): AsyncGenerator<Consent, void, undefined> => iterateConsents(connection, taskToken, query),

  getConsent: ({ taskToken }: Holder, consentId: string): Promise<Consent> =>
    getConsent(connection, taskToken, consentId),

  getConsentPdf: ({ taskToken }: Holder, consentId: string): Promise<ConsentPdf> =>
    getConsentPdf(connection, taskToken, consentId),

  revokeConsent: ({ taskToken }: Holder, consentId: string): Promise<RevokedConsent> =>
    revokeConsent(connection, taskToken, consentId),

  startExtraction: ({ taskToken }: Holder, request: ExtractionRequest): Promise<string> =>
    startExtraction(connection, taskToken, request),

  pollExtraction: ({ taskToken }: Holder, taskId: string): Promise<ExtractionReading> =>
    pollExtraction(connection, taskToken, taskId),

  waitForExtraction: ({ taskToken }: Holder, taskId: string, options?: WaitOptions) =>
    waitForExtraction(connection, taskToken, taskId, waiting(options)),

  /** @deprecated In favour of `startExtraction` and `waitForExtraction`. */
  retrieveData: ({ taskToken }: Holder, request: ExtractionRequest): Promise<RetrievedData> =>
    retrieveData(connection, taskToken, request),

  startExtractionV2: ({ taskToken }: Holder, request: ExtractionRequest): Promise<string> =>
    startExtractionV2(connection, taskToken, request),

  pollExtractionV2: ({ taskToken }: Holder, taskId: string): Promise<ExtractionReadingV2> =>
    pollExtractionV2(connection, taskToken, taskId),

  waitForExtractionV2: ({ taskToken }: Holder, taskId: string, options?: WaitOptions) =>
    waitForExtractionV2(connection, taskToken, taskId, waiting(options)),
});
