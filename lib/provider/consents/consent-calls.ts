/** Only in the published client (docs/provider-client.md). */

import type { ClientContext, WithTaskToken } from '../client-context.ts';
import { pollExtraction, waitForExtraction } from '../extractions/poll-extraction.ts';
import { pollExtractionV2, waitForExtractionV2 } from '../extractions/poll-extraction-v2.ts';
import { retrieveData } from '../extractions/retrieve-data.ts';
import {
  type StartExtractionRequest,
  startExtraction,
  startExtractionV2,
} from '../extractions/start-extraction.ts';
import type { Connection } from '../transport/send-request.ts';
import type { WaitOptions } from '../transport/wait-until.ts';
import { getConsent } from './get-consent.ts';
import { getConsentPdf } from './get-consent-pdf.ts';
import { iterateConsents } from './iterate-consents.ts';
import { listConsents } from './list-consents.ts';
import { revokeConsent } from './revoke-consent.ts';

export const consentCalls = ({ connection, waiting }: ClientContext) => {
  const withToken =
    <Rest extends readonly unknown[], Answer>(
      call: (connection: Connection, taskToken: string, ...rest: Rest) => Answer,
    ) =>
    ({ taskToken }: WithTaskToken, ...rest: Rest): Answer =>
      call(connection, taskToken, ...rest);
  return {
    listConsents: withToken(listConsents),
    iterateConsents: withToken(iterateConsents),
    getConsent: withToken(getConsent),
    getConsentPdf: withToken(getConsentPdf),
    revokeConsent: withToken(revokeConsent),

    startExtraction: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
      startExtraction(connection, taskToken, request),
    pollExtraction: withToken(pollExtraction),
    waitForExtraction: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
      waitForExtraction(connection, taskToken, taskId, waiting(options)),
    /** @deprecated In favour of `startExtraction` and `waitForExtraction`. */
    retrieveData: withToken(retrieveData),

    startExtractionV2: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
      startExtractionV2(connection, taskToken, request),
    pollExtractionV2: withToken(pollExtractionV2),
    waitForExtractionV2: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
      waitForExtractionV2(connection, taskToken, taskId, waiting(options)),
  };
};
