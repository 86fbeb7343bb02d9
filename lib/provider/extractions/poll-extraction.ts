import * as v from 'valibot';
import { inProgressStatus } from '../assumptions.ts';
import { productData } from '../transport/answer-fields.ts';
import { checkRequest } from '../transport/check-request.ts';
import { fillPath } from '../transport/endpoint.ts';
import { parseAnswer } from '../transport/parse-answer.ts';
import { bearer, taskIdInPath } from '../transport/request-fields.ts';
import { type Connection, exchange } from '../transport/send-request.ts';
import type { ExtractionStatusV1, Open } from '../vocabulary.ts';

const route = '/api/v1/products/retrieve-data/tasks/{taskId}';

type Status = {
  readonly taskStatus: Open<ExtractionStatusV1>;
  readonly taskStatusCode: number;
};

/** The HTTP status decides the kind: "keep polling until HTTP 200". */
export type ExtractionReading =
  | ({ readonly kind: 'in-progress' } & Status)
  /** The items of `results` depend on the product. `product-items.ts` has the two that are shown. */
  | ({ readonly kind: 'finished'; readonly results: readonly unknown[] } & Status);

const status = { taskStatus: v.string(), taskStatusCode: v.pipe(v.number(), v.integer()) };
const inProgressSchema = v.object(status);
const finishedSchema = v.object({ ...status, results: productData });

/** "Poll extraction (v1)". */
export const pollExtraction = async (
  connection: Connection,
  taskToken: string,
  taskId: string,
): Promise<ExtractionReading> => {
  checkRequest(taskIdInPath, { taskId }, route);
  const answer = await exchange(connection, {
    method: 'GET',
    path: fillPath(route, { taskId }),
    route,
    headers: bearer(taskToken),
  });
  return answer.status === inProgressStatus
    ? { kind: 'in-progress', ...parseAnswer(answer.bytes, inProgressSchema, route) }
    : { kind: 'finished', ...parseAnswer(answer.bytes, finishedSchema, route) };
};
