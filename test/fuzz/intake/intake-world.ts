import '../quiet-log.ts';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { SettingMissing } from '../../../lib/aws/environment.ts';
import { answerRequest, type RequestEvent } from '../../../lib/extraction/answer-request.ts';
import type { ExecutionInput } from '../../../lib/extraction/request.ts';
import type { SealedPlaintext } from '../../../lib/extraction/sealed-plaintext.ts';
import { answerFailures } from '../../../lib/http/answer-failures.ts';
import { memoryExtractionStore } from '../../simulation/memory/memory-extraction-store.ts';
import { at, timings } from '../../unit/lib/extraction/fixtures.ts';

export type Answer = APIGatewayProxyStructuredResultV2;

/**
 * `POST /extractions` from the API Gateway event to the answer, over a store in memory: everything that
 * `functions/request-extraction.ts` composes, with the AWS clients replaced and nothing else.
 */
export const intakeWorld = ({ consentsSetUp = true } = {}) => {
  const extractions = memoryExtractionStore();
  const sealed: (readonly [extractionId: string, plaintext: SealedPlaintext])[] = [];
  const started: ExecutionInput[] = [];
  let ids = 0;
  const deps = {
    extractions,
    seal: async (extractionId: string, plaintext: SealedPlaintext): Promise<string> => {
      sealed.push([extractionId, plaintext]);
      return `ciphertext ${sealed.length}`;
    },
    startExecution: async (input: ExecutionInput): Promise<void> => void started.push(input),
    now: () => at(0),
    timings,
    fingerprintKey: async () => 'fingerprint key',
    newId: () => {
      ids += 1;
      return `0190a0b0-0000-7000-8000-${String(ids).padStart(12, '0')}`;
    },
    assertConsentsSetUp: () => {
      if (!consentsSetUp) throw new SettingMissing('providerClientId');
    },
    onIdentified: () => {},
    onOutcome: () => {},
  };
  const handler = middy<APIGatewayProxyEventV2, Answer>()
    .use(answerFailures())
    .handler((event) => answerRequest(event as unknown as RequestEvent, deps));
  return {
    request: (event: RequestEvent): Promise<Answer> =>
      handler(event as unknown as APIGatewayProxyEventV2, {} as Context),
    rows: extractions.rows,
    sealed,
    started,
  };
};
