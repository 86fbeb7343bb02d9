import { ApiError, NoAnswerError } from '../../../lib/client/api-errors.ts';
import { type ExtractionRequest, requestExtraction } from '../../../lib/client/request-extraction.ts';
import { buildExtractionRequest, type StartOptions } from '../operate/build-extraction-request.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { CommandContext } from './command-context.ts';
import { startBatch } from './start-batch.ts';
import { watchOne } from './watch.ts';

export const start = async (
  file: string | undefined,
  options: StartOptions,
  context: CommandContext,
): Promise<number> => {
  const { batch, watch, ...others } = options;
  if (batch === undefined && file === undefined) return startOne(options, context);
  if (batch === undefined || file === undefined) {
    throw new UsageError(
      'A batch is --batch <name> with a file of requests. For one request, leave both out.',
    );
  }
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new UsageError(
      'With --batch, each line of the file is a whole request: use no option but --watch.',
    );
  }
  return startBatch(file, batch, { watch: watch === true }, context);
};

const startOne = async (options: StartOptions, { shell, connect }: CommandContext): Promise<number> => {
  // The API validates it.
  const request = (await buildExtractionRequest(options, shell.readText)) as ExtractionRequest;
  const deployment = await connect();
  const { base, fetch } = deployment.api;
  const idempotencyKey = options.idempotencyKey ?? shell.randomId();
  // Before the request, so that it is known even if this process is killed.
  shell.hint(`Idempotency key: ${idempotencyKey}`);
  shell.wait('requesting');
  const { extraction, replayed } = await requestExtraction(base, request, idempotencyKey, {
    fetch,
    sleep: shell.sleep,
    onRetry: (reason) => shell.hint(`${reason} Retrying with the same key.`),
  })
    .catch((error: unknown) => {
      throw explain(error, base, idempotencyKey);
    })
    .finally(() => shell.wait(undefined));

  const { extractionId, status } = extraction;
  const facts = { extractionId, status, idempotencyKey, replayed };
  shell.print(`${extractionId}  ${status}${replayed ? ' (requested before with this key)' : ''}`, facts);
  return options.watch === true ? watchOne(extractionId, {}, deployment, shell) : 0;
};

const explain = (error: unknown, base: string, idempotencyKey: string): unknown => {
  const retry = `Run it again with --idempotency-key ${idempotencyKey}: that starts no second extraction.`;
  if (error instanceof NoAnswerError) {
    const explanation = explainFailure(error.cause);
    return new CliError(
      [
        `${base} did not answer, and may have accepted the request. ${retry}`,
        ...(explanation === undefined ? [] : [explanation]),
      ],
      { cause: error.cause },
    );
  }
  if (!(error instanceof ApiError)) return error;
  const { status, problem, violations } = error;
  const facts = { status, problem, violations };
  const isOfAnother = problem?.endsWith(':idempotency-key-reused') === true;
  const remedy = isOfAnother ? ['Use a new --idempotency-key, or none for a random one.'] : [];
  const lines = [...error.lines, ...(error.isTransient ? [retry] : remedy)];
  return new CliError(lines, { cause: error, facts });
};
