import type { StartExtractionRequest } from '../provider/extractions/start-extraction-request.ts';
import { type TaskTokens, tokensOf } from '../provider/tokens/task-tokens.ts';
import type { ConsentExtraction, ConsentVariant } from './record.ts';
import type { SealedTargetData } from './sealed-request-data.ts';
import type { StartCall } from './start-call.ts';

/** "Start extraction" in either variant, under a Task Token for the target unsealed. */
export const callByConsent = (
  { product, consentId, variant }: ConsentExtraction,
  { target }: SealedTargetData,
  deps: {
    readonly taskTokens: TaskTokens;
    readonly startExtraction: {
      readonly [Variant in ConsentVariant]: (
        taskToken: string,
        request: StartExtractionRequest,
      ) => Promise<string>;
    };
  },
): StartCall => ({
  tokens: tokensOf(deps.taskTokens, target),
  renewable: true,
  post: (token) => deps.startExtraction[variant](token, { product, consentId }),
});
