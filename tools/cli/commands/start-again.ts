import { ApiError } from '../../../lib/client/api-errors.ts';
import { type BatchProgress, type BatchRequest, requestAll } from '../../../lib/client/request-all.ts';
import type { ConsentExtraction, Extraction } from '../../../lib/extraction/record.ts';
import { type FindOptions, findExtractions, finderOf } from '../aws/find-extractions.ts';
import { repeatable } from '../operate/repeatable.ts';
import { againKey, againOf, parseNationalIds, requestOf } from '../operate/start-again.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError, exitCodes } from '../terminal/errors.ts';
import { progressOf } from '../terminal/progress-bar.ts';
import type { CommandContext } from './command-context.ts';
import { csvLines } from './list-rows.ts';

type StartAgainOptions = FindOptions & {
  readonly as: string;
  readonly targets: string;
  readonly ask?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
};

/** As many as a summary of the batch counts. */
const maxRequested = 10_000;

const count = (number: number): string => number.toLocaleString('en');

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
  const show = progressOf(shell, requests.length, 'requested');
  const onProgress = ({ accepted, replayed, refused }: BatchProgress) =>
    show(accepted + replayed + refused.length);
  const progress = await repeatable(deployment, shell, (deps) =>
    requestAll(deployment.api.base, requests, { batch: as, onProgress }, deps),
  );
  if (progress === undefined) return exitCodes.interrupted;
  // Last, so that a run that is repeated after an interruption finds no file.
  if (ask !== undefined) await shell.writePrivately(ask, Buffer.from(`${csvLines(toAsk).join('\n')}\n`));
  return print(progress, known, { shell, facts, unknown: requestable.length - known.length });
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

const print = (
  { accepted, replayed, refused }: BatchProgress,
  known: readonly Extraction[],
  { shell, facts, unknown }: { readonly shell: Shell; readonly facts: object; readonly unknown: number },
): number => {
  for (const { index, error } of refused) {
    const extractionId = known[index]?.extractionId;
    const lines = error instanceof ApiError ? error.lines : [error.message];
    shell.print(`${extractionId}: ${lines.join(' ')}`, { extractionId, error: lines.join('\n') });
  }
  const others = [
    ...(replayed === 0 ? [] : [`${count(replayed)} before`]),
    ...(refused.length === 0 ? [] : [`${count(refused.length)} refused`]),
    ...(unknown === 0 ? [] : [`${count(unknown)} without the national id of their consent`]),
  ];
  const numbers = { requested: accepted, requestedBefore: replayed, refused: refused.length, unknown };
  shell.print(`${[`${count(accepted)} requested`, ...others].join(', ')}.`, { ...facts, ...numbers });
  return refused.length + unknown > 0 ? exitCodes.failed : exitCodes.done;
};
