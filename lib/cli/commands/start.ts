import type { PublicExtraction } from '../../extraction/api/public-view.ts';
import { buildRequest, type StartOptions } from '../build-request.ts';
import type { Context } from '../context.ts';
import { describeProblem } from '../describe-problem.ts';
import { CliError } from '../errors.ts';
import { postExtraction } from '../post-extraction.ts';
import { watchOne } from './watch.ts';

/** Requests an extraction, and watches it if asked to. */
export const start = async (options: StartOptions, { shell, connect }: Context): Promise<number> => {
  const request = await buildRequest(options, shell.readText);
  const system = await connect();
  const idempotencyKey = options.idempotencyKey ?? shell.randomId();
  // Before the request, so that it is known whatever happens to this process.
  shell.hint(`Idempotency key: ${idempotencyKey}`);
  shell.wait('requesting');
  const posted = await postExtraction(`${system.api.base}/extractions`, request, idempotencyKey, {
    fetch: system.api.fetch,
    sleep: shell.sleep,
    onRetry: (why) => shell.hint(`${why}: trying again with the same key.`),
  });
  shell.wait(undefined);

  const again = `Run it again with --idempotency-key ${idempotencyKey}: that starts no second extraction.`;
  if (posted.kind === 'unanswered') {
    throw new CliError(`${system.api.base} gave no answer; it may have been requested. ${again}`, {
      cause: posted.cause,
    });
  }
  if (posted.status >= 400) {
    const mayPass = posted.status >= 500 || posted.status === 429;
    throw new CliError([...describeProblem(posted.status, posted.body), ...(mayPass ? [again] : [])]);
  }
  const { extractionId, status } = JSON.parse(posted.body) as PublicExtraction;
  const before = posted.replayed ? ' (requested before under this key)' : '';
  shell.print(`${extractionId}  ${status}${before}`, {
    ...{ extractionId, status, idempotencyKey, replayed: posted.replayed },
  });
  return options.watch === true ? watchOne(extractionId, system, shell) : 0;
};
