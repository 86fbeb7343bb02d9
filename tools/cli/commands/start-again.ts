import type { BatchRequest } from '../../../lib/client/request-all.ts';
import type { ConsentExtraction, Extraction } from '../../../lib/extraction/record.ts';
import { type FindOptions, findExtractions, finderOf } from '../aws/find-extractions.ts';
import { repeatable } from '../operate/repeatable.ts';
import { againKey, againOf, parseNationalIds, requestOf } from '../operate/start-again.ts';
import { CliError, exitCodes } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';
import { csvLines } from './list-rows.ts';
import { count, requestBatch } from './request-batch.ts';

type StartAgainOptions = FindOptions & {
  readonly as: string;
  readonly targets: string;
  readonly ask?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
};

/** As many as a summary of the batch counts. */
const maxRequested = 10_000;

/**
 * Requests again what a filter finds: by consent as a batch, and by credentials it writes who has to be asked. A key follows from each
 * extraction, so that a second run starts nothing twice.
 */
export const startAgain = async (
  { as, targets, ask, dryRun = false, yes = false, ...asked }: StartAgainOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { advice = ['request-again'], ...others } = asked;
  const { records } = await findExtractions({ advice, ...others }, finderOf(deployment, shell.now));
  const sorted = sort(records, as, shell.now());
  const { requestable, toAsk, facts } = sorted;
  if (dryRun) {
    shell.print(sorted.lines, facts);
    return exitCodes.done;
  }
  shell.hint(sorted.lines);
  if (requestable.length > maxRequested) {
    throw new CliError(
      `At once ${count(maxRequested)} can be requested. Name an --entity, or a later --since.`,
    );
  }
  const question = `You become the caller of ${count(requestable.length)} extractions in ${deployment.stackName}. Type ${requestable.length} to continue:`;
  if (requestable.length > 0 && !yes && !(await shell.confirm(question, String(requestable.length)))) {
    throw new CliError('Nothing was requested: type the number at the prompt, or use --yes.');
  }
  const nationalIds =
    requestable.length === 0
      ? new Map<string, string>()
      : parseNationalIds(
          await shell.readText(targets, 'a JSON object with the national id for each consentId'),
        );
  const known = requestable.filter(({ consentId }) => nationalIds.has(consentId));
  const requests = known.map((record): BatchRequest => {
    const request = requestOf(record, nationalIds.get(record.consentId) ?? '') as BatchRequest;
    return { ...request, batch: as, priority: 'background', idempotencyKey: againKey(record) };
  });
  const unknown = requestable.length - known.length;
  const batch = {
    ...{ base: deployment.api.base, batch: as, requests, facts: { ...facts, unknown } },
    nameOf: (index: number) => {
      const extractionId = known[index]?.extractionId ?? '';
      return [extractionId, { extractionId }] as const;
    },
    others: unknown === 0 ? [] : [`${count(unknown)} without the national id of their consent`],
  };
  const progress = await repeatable(deployment, shell, (deps) => requestBatch(batch, shell, deps));
  if (progress === undefined) return exitCodes.interrupted;
  // Last, so that a run that is repeated after an interruption finds no file.
  if (ask !== undefined) await shell.writePrivately(ask, Buffer.from(`${csvLines(toAsk).join('\n')}\n`));
  return progress.refused.length + unknown > 0 ? exitCodes.failed : exitCodes.done;
};

/** What is done with each, as lines and as facts. */
const sort = (records: readonly Extraction[], batch: string, now: Date) => {
  const byKind = Map.groupBy(records, (record) => againOf(record, batch, now));
  const requestable = (byKind.get('request') ?? []).filter(
    ({ method }) => method === 'consent',
  ) as readonly ConsentExtraction[];
  const toAsk = byKind.get('ask') ?? [];
  const leftOut = [...byKind].filter(([kind]) => kind !== 'request' && kind !== 'ask');
  const parts = leftOut.map(([why, some]) => `${count(some.length)} ${why}`);
  const lines = [
    `${count(requestable.length)} by consent can be requested again, as the batch ${batch}.`,
    `${count(toAsk.length)} need their user first. --ask <file> writes who.`,
    ...(parts.length === 0 ? [] : [`Left out: ${parts.join(', ')}.`]),
  ];
  const reasons = Object.fromEntries(leftOut.map(([why, some]) => [why, some.length]));
  const facts = { batch, requestable: requestable.length, toAsk: toAsk.length, leftOut: reasons };
  return { requestable, toAsk, lines, facts };
};
