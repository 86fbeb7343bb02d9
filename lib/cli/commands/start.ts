import type { PublicExtraction } from '../../extraction/api/public-view.ts';
import { buildRequest, type StartOptions } from '../build-request.ts';
import type { Context } from '../context.ts';
import { describeProblem } from '../describe-problem.ts';
import { CliError } from '../errors.ts';
import { isTransient, postExtraction } from '../post-extraction.ts';
import { watchOne } from './watch.ts';

/** Requests an extraction, and with --watch prints its changes until it is closed. */
export const start = async (options: StartOptions, { shell, connect }: Context): Promise<number> => {
  const request = await buildRequest(options, shell.readText);
  const deployment = await connect();
  const { base, fetch } = deployment.api;
  const idempotencyKey = options.idempotencyKey ?? shell.randomId();
  // Before the request, so that it is known even if this process is killed.
  shell.hint(`Idempotency key: ${idempotencyKey}`);
  shell.wait('requesting');
  const result = await postExtraction(`${base}/extractions`, request, idempotencyKey, {
    fetch,
    sleep: shell.sleep,
    onRetry: (reason) => shell.hint(`${reason} Retrying with the same key.`),
  });
  shell.wait(undefined);

  const retry = `Run it again with --idempotency-key ${idempotencyKey}: that starts no second extraction.`;
  if (result.kind === 'unanswered') {
    throw new CliError(`${base} did not answer, and may have accepted the request. ${retry}`, {
      cause: result.cause,
    });
  }
  if (result.status >= 400) {
    const lines = describeProblem(result.status, result.body);
    throw new CliError(isTransient(result) ? [...lines, retry] : lines);
  }
  const { extractionId, status } = JSON.parse(result.body) as PublicExtraction;
  const { replayed } = result;
  shell.print(`${extractionId}  ${status}${replayed ? ' (requested before with this key)' : ''}`, {
    extractionId,
    status,
    idempotencyKey,
    replayed,
  });
  return options.watch === true ? watchOne(extractionId, {}, deployment, shell) : 0;
};
