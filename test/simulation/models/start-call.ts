import type { Extraction } from '../../../lib/extraction/record.ts';
import { knownCredentials } from '../../../lib/extraction/refused-credentials.ts';
import type { SealedCredentialsData, SealedTargetData } from '../../../lib/extraction/sealed-request-data.ts';
import {
  callByConsent,
  callByCredentials,
  type StartCall,
} from '../../../lib/extraction/start/start-call.ts';
import type { StoredRequest } from '../../../lib/extraction/store.ts';
import type { SessionTokens } from '../../../lib/provider/tokens/session-tokens.ts';
import { fingerprintKey } from '../world/the-extraction.ts';

type ByConsent = Parameters<typeof callByConsent>[2];

/** As in lib/aws/wiring/starter-from-environment.ts. For 0 days, nothing is known of credentials. */
export const startCallOf = async (
  record: Extraction,
  stored: StoredRequest,
  deps: Pick<ByConsent, 'getConsent'> & {
    readonly unseal: <Plaintext extends SealedCredentialsData | SealedTargetData>(
      record: Extraction,
      item: StoredRequest,
    ) => Promise<Plaintext>;
    readonly sessions: SessionTokens;
    readonly taskTokens: () => ByConsent['taskTokens'];
    readonly startTask: (token: string) => Promise<string>;
    readonly keptDays: number;
  },
): Promise<StartCall> => {
  const { unseal, sessions, startTask, getConsent, keptDays } = deps;
  if (record.method === 'consent') {
    const startExtraction = { v1: startTask, v2: startTask };
    const target = await unseal<SealedTargetData>(record, stored);
    return callByConsent(record, target, { taskTokens: deps.taskTokens(), startExtraction, getConsent });
  }
  const credentials = await unseal<SealedCredentialsData>(record, stored);
  return {
    ...callByCredentials(record, credentials, { sessions, startTask }),
    ...(await knownCredentials(record, credentials, { key: async () => fingerprintKey, keptDays })),
  };
};
