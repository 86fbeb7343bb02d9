import { memoryRepeatCounter } from '../../support/stores/memory-repeat-counter.ts';
import '../quiet-log.ts';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { httpHandler } from '#lib/aws/wiring/http-handler.ts';
import { answerRequest, type RequestEvent } from '#lib/extraction/api/answer-request.ts';
import type { ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import { extractionRequestParser } from '#lib/extraction/api/parse-request.ts';
import type { SealedRequestData } from '#lib/extraction/sealed-request-data.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import { at, timings } from '../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../support/stores/memory-extraction-store.ts';
import { memoryRequestStore } from '../../support/stores/memory-request-store.ts';

type Answer = APIGatewayProxyStructuredResultV2;

/**
 * `POST /extractions` from the API Gateway event to the answer, over a store in memory: everything that
 * `functions/request-extraction.ts` composes, with the AWS clients replaced and nothing else.
 */
export const apiWorld = ({ consentsSetUp = true } = {}) => {
  const extractions = memoryExtractionStore();
  const requests = memoryRequestStore();
  const sealed: (readonly [extractionId: string, plaintext: SealedRequestData])[] = [];
  const started: ExecutionInput[] = [];
  let ids = 0;
  const deps = {
    parseRequest: extractionRequestParser({}),
    extractions,
    requests,
    repeats: memoryRepeatCounter(),
    seal: async ({ extractionId }: ExecutionInput, plaintext: SealedRequestData): Promise<string> => {
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
    newRequestId: () => {
      ids += 1;
      return `request-${ids}`;
    },
    sendsWebhooks: true,
    assertConsentsSetUp: () => {
      if (!consentsSetUp) throw new NotConfigured('setting', 'providerClientId');
    },
    telemetry: memoryTelemetry().telemetry,
  };
  const handler = httpHandler((event: RequestEvent) => answerRequest(event, deps));
  return {
    request: (event: RequestEvent): Promise<Answer> => handler(event, {} as Context),
    records: extractions.items,
    requests: requests.items,
    sealed,
    started,
  };
};
