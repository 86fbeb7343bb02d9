import { summarizeBatch } from '../../../lib/client/find-extractions.ts';
import { findLateRequest } from '../../../lib/client/find-late-request.ts';
import type { BatchProgress } from '../../../lib/client/request-all.ts';
import { waitForBatch } from '../../../lib/client/wait-for-batch.ts';
import type { BatchSummary } from '../../../lib/extraction/api/public-view.ts';
import { isOpenStatus } from '../aws/find-extractions.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { type BatchLine, parseBatchFile } from '../operate/parse-batch-file.ts';
import { repeatable } from '../operate/repeatable.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { type StartRate, waitingIn } from '../terminal/describe-rate.ts';
import { exitCodes } from '../terminal/errors.ts';
import { progressOf } from '../terminal/progress-bar.ts';
import type { CommandContext } from './command-context.ts';
import { count, requestBatch } from './request-batch.ts';

/** Requests all of a file, and prints the summary of the batch. With `watch`, follows it by the summary until all have an outcome. */
export const startBatch = async (
  file: string,
  batch: string,
  { watch }: { readonly watch: boolean },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const text = await shell.readText(file, 'one request as JSON a line');
  const deployment = await connect();
  const lines = parseBatchFile(text, batch, deployment.acceptedRequests());
  const { base } = deployment.api;
  const rate = await readStartRate(deployment, shell.now()).catch(() => undefined);
  for (const sentence of warningOf(lines, rate)) shell.hint(sentence);
  const showEnded = progressOf(shell, lines.length, 'ended');
  const code = await repeatable(deployment, shell, async (deps) => {
    const requests = lines.map(({ request }) => request);
    const nameOf = (index: number) =>
      [`Line ${lines[index]?.number}`, { line: lines[index]?.number }] as const;
    const progress = await requestBatch({ base, batch, requests, nameOf, facts: { batch } }, shell, deps);
    // The index is eventually consistent.
    if (!watch) await deps.sleep(indexLagMs);
    const summarize = (name: string) => summarizeBatch(base, name, deps);
    const summary = watch
      ? await waitForBatch(batch, {
          summarize,
          sleep: deps.sleep,
          onSummary: ({ extractions, open }) => showEnded(extractions - open),
        })
      : await summarize(batch);
    shell.wait(undefined);
    printSummary(summary, shell);
    return exitCodeOf(progress, summary, watch);
  });
  return code ?? exitCodes.interrupted;
};

/** Before anything is sent: why some would not be started in time. Nothing where the rate is unknown, or may not be read. */
export const warningOf = (lines: readonly BatchLine[], rate: StartRate | undefined): readonly string[] => {
  if (rate?.perSecond === undefined) return [];
  const line = { startsPerSecond: rate.perSecond, inLine: waitingIn(rate) };
  const late = lines.flatMap(({ request }, index) => findLateRequest(request, index, line) ?? []);
  const [first] = late;
  if (first === undefined) return [];
  return [`${first} ${count(late.length)} of ${count(lines.length)} come too late. Ctrl-C stops it.`];
};

const indexLagMs = 2_000;

const printSummary = (summary: BatchSummary, shell: Shell): void => {
  const rows = summary.counts.map(({ status, advice, extractions }) => [
    count(extractions).padStart(6),
    status.padEnd(18),
    advice ?? (isOpenStatus(status) ? '' : 'results not collected yet'),
  ]);
  shell.print(
    rows.map((row) => row.join('  ').trimEnd()),
    summary,
  );
};

const exitCodeOf = ({ refused }: BatchProgress, { counts }: BatchSummary, watch: boolean): number => {
  if (refused.length > 0) return exitCodes.failed;
  return watch && counts.some(({ status }) => status !== 'COMPLETED')
    ? exitCodes.otherOutcome
    : exitCodes.done;
};
