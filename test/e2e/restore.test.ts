/** @module-tag slow */

import { readFileSync } from 'node:fs';
import {
  BatchWriteItemCommand,
  DeleteTableCommand,
  PutItemCommand,
  paginateScan,
  RestoreTableToPointInTimeCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, inject, test } from 'vitest';
import { LOCAL_STAGE, stackNameOf } from '#lib/aws/stage.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { eventually } from '../support/eventually.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { aws } from './support/aws.ts';
import { ageByAnHour } from './support/backdate.ts';
import { extract, extractWith, provider, requestFor, uniqueUsername } from './support/call-extractions.ts';
import { closed, inStatus, readRecord, recordsOf } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';
import { sweepAllUntilClosed } from './support/sweep-until-closed.ts';

const { outputs } = inject('cosecha');
const table = outputs.ExtractionsTableName ?? '';

/** The commands of "Restore the table" in docs/operations.md, in their order. */
const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const [chapter = ''] = page.split(/^## /m).filter((text) => text.startsWith('Restore the table\n'));
const commands = [...chapter.matchAll(/^ *```sh\n(.*?)^ *```/gms)].flatMap(([, lines = '']) =>
  lines.replaceAll('\\\n', '').trim().split(/\n\s*/),
);

const variables: Record<string, string> = { STACK: stackNameOf(LOCAL_STAGE) };
const wordsOf = (command: string): readonly string[] =>
  command
    .replace(/\$\(cosecha output (\w+)\)/g, (_, name: string) => outputs[name] ?? '')
    .replace(/\$\{?([A-Z]+)\}?/g, (_, name: string) => variables[name] ?? '')
    .replaceAll('"', '')
    .split(/\s+/);

/** Does what the AWS CLI does, which not every machine has. As root, because the emulator allows a restore only for every table. */
const runAws = async ([, operation, ...words]: readonly string[]): Promise<void> => {
  const option = (name: string) => words[words.indexOf(`--${name}`) + 1];
  const TableName = option('table-name');
  if (operation === 'restore-table-to-point-in-time') {
    const [SourceTableName, TargetTableName] = [option('source-table-name'), option('target-table-name')];
    const RestoreDateTime = new Date(Number(option('restore-date-time')) * 1_000);
    const input = { SourceTableName, TargetTableName, RestoreDateTime };
    await aws.dynamo.send(new RestoreTableToPointInTimeCommand(input));
  } else if (operation === 'wait') {
    await waitUntilTableExists({ client: aws.dynamo, maxWaitTime: 60, minDelay: 1 }, { TableName });
  } else if (operation === 'delete-table') await aws.dynamo.send(new DeleteTableCommand({ TableName }));
  else throw new Error(`The page has another command of DynamoDB: ${operation}.`);
};

/** Runs the next commands of the page, until one that contains `last`. Returns what that one printed. */
const runUntil = async (last: string, ...more: readonly string[]) => {
  for (let command = commands.shift(); command !== undefined; command = commands.shift()) {
    const [program, ...words] = wordsOf(command);
    const isLast = command.includes(last);
    if (command.startsWith('WHEN=')) variables.WHEN = String(Math.floor(Date.now() / 1_000) - 600);
    else if (program === 'aws') await runAws(words);
    else {
      const ran = await cosecha([...words, ...(isLast ? more : []), '--json']);
      if (isLast) return { ...ran, facts: factsOf(ran) };
      expect(ran).toMatchObject({ code: 0, stderr: '' });
    }
    if (isLast) return undefined;
  }
  throw new Error(`The page has no command ${last}.`);
};

/** Deletes every record but those of these extractions, and returns how many. */
const loseAllBut = async (kept: readonly string[]): Promise<number> => {
  let lost = 0;
  const pages = paginateScan(
    { client: aws.dynamo, pageSize: 25 },
    { TableName: table, ProjectionExpression: 'extractionId' },
  );
  for await (const { Items = [] } of pages) {
    const deletions = Items.filter(({ extractionId }) => !kept.includes(extractionId?.S ?? '')).map(
      (Key) => ({ DeleteRequest: { Key } }),
    );
    lost += deletions.length;
    const RequestItems = { [table]: deletions };
    if (deletions.length > 0) await aws.dynamo.send(new BatchWriteItemCommand({ RequestItems }));
  }
  return lost;
};

const withoutEnd = async (): Promise<string> =>
  (await extractWith({ durationMs: null, webhook: { enabled: false } })).extractionId;

// All that the other tests left is lost and restored, too.
test('after the loss of the table, the commands of the runbook restore it, and the audit finds nothing but what is newer', async () => {
  const { extractionId: held } = await extractWith({ startForever: { kind: 'answer', status: 429 } });
  const running = await withoutEnd();
  const consented = await extract(consentRequest(await authorized({ durationMs: null })));
  const [present, erased] = await Promise.all([1, 2].map(() => extract(requestFor(uniqueUsername()))));
  await Promise.all([present, erased].map((id) => closed(id ?? '')));
  await Promise.all([
    inStatus(held, 'STARTING'),
    ...[running, consented].map((id) => inStatus(id, 'RUNNING')),
  ]);

  const startedAt = performance.now();
  // The emulator restores a table as it is now, for any time that is given. So the backup is taken before the loss.
  await runUntil('wait table-exists');
  const newer = await withoutEnd();
  const newerRecord = await inStatus(newer, 'RUNNING');
  await ageByAnHour(erased ?? '');
  expect(await cosecha(['erase', erased ?? '', '--yes'])).toMatchObject({ code: 0, stderr: '' });
  const lost = await loseAllBut([present ?? '']);
  expect(await readRecord(running)).toBeUndefined();

  const planned = await runUntil('--dry-run');
  expect(planned?.facts.at(-1)).toMatchObject({ dryRun: true, present: 1, erased: 1 });
  expect(await readRecord(running)).toBeUndefined();
  const copied = await runUntil('restore');
  const { closed: closedAgain, due, unconfirmed, expired, unreadable } = copied?.facts.at(-1) ?? {};
  expect(copied?.facts.at(-1)).toMatchObject({ present: 1, erased: 1, 'requested-again': 0 });
  const copies = [closedAgain, due, unconfirmed, expired, unreadable].map(Number);
  expect(copies.reduce((sum, count) => sum + count)).toBe(lost - 1);
  expect(await readRecord(held)).toMatchObject({ status: 'UNCONFIRMED', reason: 'restored' });
  expect(await readRecord(erased ?? '')).toBeUndefined();
  const kinds = () => recordsOf(running).map((record) => decodeExtractionEvent(record).kind);
  await eventually(() => expect(kinds()).toContain('restored'));
  await provider.finish((await inStatus(running, 'RUNNING')).taskId ?? '');
  await provider.finishPolled((await inStatus(consented, 'RUNNING')).taskId ?? '');
  await runUntil('reconcile --all-due');
  // The sweep queued them. None needs another one.
  await eventually(async () => {
    for (const id of [running, consented]) {
      expect(await readRecord(id)).toMatchObject({ status: 'COMPLETED', collectedAt: expect.any(String) });
    }
  });

  const audited = await runUntil('audit', '--results');
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const found = audited?.facts.flatMap(({ id, result, findings = [] }) =>
    result === 'unchecked' ? [id] : (findings as object[]).map((finding) => ({ id, ...finding })),
  );
  const what = expect.stringMatching(/^Its record was removed at .*, open as RUNNING\.$/);
  const command = `npm exec --no -- cosecha --stage local explain ${newer}`;
  expect(found).toEqual([{ id: 'requests-have-records', extractionId: newer, what, command }]);
  expect(audited?.code).toBe(1);
  await runUntil('delete-table');
  expect(commands).toEqual([]);
  console.info(`The drill restored ${lost - 1} records, from the backup to the audit, in ${seconds} s.`);

  const Item = marshall(newerRecord, { removeUndefinedValues: true });
  await aws.dynamo.send(new PutItemCommand({ TableName: table, Item }));
  await provider.finish(newerRecord.taskId ?? '');
  await sweepAllUntilClosed([newer]);
});
