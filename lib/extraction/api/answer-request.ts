import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { defined } from '../../defined.ts';
import { type CallerContext, identifyCaller, parseTraceparent } from '../../http/caller-and-trace.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import { parseRequestBody, refuseBody } from '../../http/parse-request-body.ts';
import { problem } from '../../http/problem.ts';
import { logMessages } from '../../observability/log-messages.ts';
import { type Extraction, subjectFields } from '../record.ts';
import { createExtraction, type RequestDeps } from './create-extraction.ts';
import { extractionIdOf, fingerprint, parseIdempotencyKey } from './idempotency.ts';
import type { extractionRequestParser } from './parse-request.ts';
import { publicView } from './public-view.ts';

/** The part of an API Gateway event that `POST /extractions` uses. Header names are in lower case. */
export type RequestEvent = {
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: CallerContext;
};

export type AnswerRequestDeps = RequestDeps & {
  readonly parseRequest: ReturnType<typeof extractionRequestParser>;
  /** Throws NotConfigured of a secret (503) while it has no value. */
  readonly fingerprintKey: () => Promise<string>;
  /** The id of an extraction that was requested without an idempotency key. */
  readonly newId: () => string;
  /** Throws NotConfigured of a setting (501) if the stack was deployed without one that extractions by consent need. */
  readonly assertConsentsSetUp: () => void;
};

const bodyLimitBytes = 64 * 1024;

/**
 * A repeated request is logged too, because the first one may have been recorded and then failed before it was logged. `health` counts
 * extractions by `requestedMs`, not lines.
 */
const requestedFields = (record: Extraction) => ({
  ...subjectFields(record),
  requestedMs: Date.parse(record.requestedAt),
});

/** Answers `POST /extractions` (design, section 6). Throws what its dependencies throw. */
export const answerRequest = async (
  event: RequestEvent,
  deps: AnswerRequestDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  // 401 if it is not signed, 403 for a federated user.
  const identified = identifyCaller(event.requestContext);
  if (identified.kind === 'refused') return identified.answer;
  const { caller } = identified;
  const idempotencyKey = parseIdempotencyKey(event.headers['idempotency-key']);
  if (idempotencyKey.kind === 'invalid') return problem('invalid-request', { detail: idempotencyKey.detail });
  // 413 if it is too large, otherwise 400.
  const body = parseRequestBody(event, bodyLimitBytes);
  if (body.kind !== 'json') return refuseBody(body, bodyLimitBytes);
  const parsed = deps.parseRequest(body.json);
  if (parsed.kind === 'invalid') return problem('invalid-request', { errors: parsed.violations });
  // NotConfigured is thrown here, and answered with 501, because such an extraction could never be started.
  if (parsed.request.method === 'consent') deps.assertConsentsSetUp();

  const extractionId =
    idempotencyKey.kind === 'absent' ? deps.newId() : extractionIdOf(caller, idempotencyKey.key);
  deps.telemetry.about({ extractionId });
  const traceparent = parseTraceparent(event.headers.traceparent);
  const outcome = await createExtraction(
    {
      extractionId,
      requestedBy: caller,
      fingerprint: fingerprint(parsed.request, await deps.fingerprintKey(), { caller, extractionId }),
      request: parsed.request,
      traceparent,
    },
    deps,
  );
  deps.telemetry.log(logMessages.requested, {
    extractionId,
    outcome: outcome.kind,
    caller,
    ...('record' in outcome ? requestedFields(outcome.record) : {}),
    ...defined({ traceparent }),
  });

  if (outcome.kind === 'key-reused') return problem('idempotency-key-reused');
  if (outcome.kind === 'key-reused-often') {
    return problem('idempotency-key-blocked', { retryAfter: outcome.retryAfter });
  }
  const replayed = outcome.kind === 'replayed';
  const location = { location: `/extractions/${extractionId}` };
  return jsonAnswer(publicView(outcome.record), {
    statusCode: replayed ? 200 : 202,
    headers: replayed ? { ...location, 'idempotency-replayed': 'true' } : location,
  });
};
