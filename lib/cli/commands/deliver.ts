import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../../aws/dynamo-task-store.ts';
import { readSecret } from '../../aws/read-secret.ts';
import { LOCAL_STAGE } from '../../aws/stage.ts';
import type { Extraction } from '../../extraction/record.ts';
import type { ExtractionStore, TaskStore } from '../../extraction/store.ts';
import { NotConfigured } from '../../not-configured.ts';
import type { Context } from '../context.ts';
import { type DeliveryEffect, deliveryEffect } from '../delivery-effect.ts';
import type { Deployment } from '../deployment.ts';
import { describeProgress } from '../describe-record.ts';
import { CliError, UsageError } from '../errors.ts';
import type { Shell } from '../shell.ts';
import { signDelivery } from '../sign-delivery.ts';

export type DeliverOptions = {
  readonly extraction?: string;
  readonly status: string;
  readonly encrypted?: true;
  readonly forged?: true;
  readonly orphan?: true;
  readonly yes?: true;
  readonly force?: true;
};

/** Signs and sends one delivery to the webhook, and says what came of it. */
export const deliver = async (
  taskId: string | undefined,
  options: DeliverOptions,
  { shell, connect }: Context,
): Promise<number> => {
  if ((taskId === undefined) === (options.extraction === undefined)) {
    throw new UsageError('Deliver to which task? Name it, or say --extraction <id>.');
  }
  const system = await connect();
  const dynamo = new DynamoDBClient(system.client);
  const extractions = dynamoExtractionStore(dynamo, system.output('ExtractionsTableName'));
  const tasks = dynamoTaskStore(dynamo, system.output('TasksTableName'), shell.now);
  const target = await findTarget(taskId, options.extraction, { extractions, tasks }, system.stackName);
  if (options.forged !== true) {
    const judgement = deliveryEffect(
      target.record === undefined ? { kind: 'nobody' } : { kind: 'extraction', record: target.record },
    );
    await requireConfirmation(judgement, options, system, shell);
  }
  const status = await send(target.taskId, options, system, shell);
  return report(status, target, options, extractions, shell);
};

type Target = { readonly taskId: string; readonly record: Extraction | undefined };

const findTarget = async (
  taskId: string | undefined,
  extractionId: string | undefined,
  { extractions, tasks }: { readonly extractions: ExtractionStore; readonly tasks: TaskStore },
  stackName: string,
): Promise<Target> => {
  if (taskId !== undefined) {
    const linked = (await tasks.get(taskId))?.extractionId;
    return { taskId, record: linked === undefined ? undefined : await extractions.get(linked) };
  }
  const record = await extractions.get(extractionId ?? '');
  if (record === undefined) throw new CliError(`There is no extraction ${extractionId} in ${stackName}.`);
  if (record.method === 'consent') {
    throw new CliError(
      'An extraction by consent has no webhook: the provider sends none, and it is found by reading.',
    );
  }
  if (record.taskId === undefined) throw new CliError(`${extractionId} is ${record.status} and has no task.`);
  const isLinked = (await tasks.get(record.taskId))?.extractionId === extractionId;
  return { taskId: record.taskId, record: isLinked ? record : undefined };
};

/** @throws Problem where what it would do needs a flag that is not given */
const requireConfirmation = async (
  judgement: DeliveryEffect,
  options: DeliverOptions,
  system: Deployment,
  shell: Shell,
): Promise<void> => {
  if (judgement.kind === 'harmless') return;
  if (judgement.kind === 'orphan') {
    if (options.orphan === true) return;
    throw new CliError(
      'No extraction is linked to this task. The delivery would be kept for 30 days as an orphan, be counted as ' +
        'UnlinkedDelivery, and end a task that ever bears this id. Say --orphan to send it all the same, or --forged ' +
        'to see it refused.',
    );
  }
  const { extractionId, status } = judgement.record;
  const effect = `${extractionId} is ${status}: this delivery would settle it as ${options.status} on your word, not the provider's.`;
  if (system.stage !== LOCAL_STAGE) {
    if (options.force === true) return;
    throw new CliError(`${effect} Say --force if that is what you want, or --forged to see one refused.`);
  }
  if (options.yes === true) return;
  if (await shell.confirm(`${effect} Type yes to go on:`, 'yes')) return;
  throw new CliError(`${effect} Nothing was sent; say --yes if that is what you want.`);
};

/** The key that deliveries are signed with or, for a forged one, one that nobody has. */
const signingKey = async (forged: boolean, system: Deployment, shell: Shell): Promise<string> => {
  if (forged) return shell.randomId();
  const secrets = new SecretsManagerClient(system.client);
  return readSecret(secrets, `${system.stackName}/webhook-signing-key`).catch((cause: unknown) => {
    if (cause instanceof NotConfigured) throw new CliError(cause.message, { cause });
    throw cause;
  });
};

const send = async (
  taskId: string,
  { status: taskStatus, encrypted, forged }: DeliverOptions,
  system: Deployment,
  shell: Shell,
): Promise<number> => {
  const key = await signingKey(forged === true, system, shell);
  const { body, signature } = signDelivery({ taskId, taskStatus }, key, { encrypted: encrypted === true });
  const { webhookUrl } = system.api;
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  try {
    // 15 s: three times what the provider gives it, so that a slow answer is still heard.
    const answer = await fetch(webhookUrl, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(15_000),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (cause) {
    throw new CliError(`${webhookUrl} gave no answer: is it reachable from here?`, { cause });
  }
};

const meanings: Readonly<Record<number, string>> = {
  400: 'signed, and yet no delivery: this program and the service are of different versions',
  401: 'refused: not signed with a key that the service knows',
  413: 'too large',
  500: 'the service failed, and the provider would deliver again; the log of receive-webhook says why',
  503: 'a secret is not filled, and the provider would deliver again',
};

const report = async (
  status: number,
  { taskId, record }: Target,
  { forged }: DeliverOptions,
  extractions: ExtractionStore,
  shell: Shell,
): Promise<number> => {
  const after = record === undefined ? undefined : await extractions.get(record.extractionId);
  const taken =
    after === undefined
      ? 'taken and kept, for a task that nobody knows'
      : `taken; ${after.extractionId} is ${describeProgress(after)}`;
  const meaning =
    status === 204 ? taken : (meanings[status] ?? 'no answer of this service; is the address right?');
  const expected = forged === true ? 401 : 204;
  const verdict = status === expected ? '' : `. Expected ${expected}`;
  shell.print(`${status}: ${meaning}${verdict}.`, {
    ...{ taskId, answer: status, expected, extractionId: after?.extractionId, status: after?.status },
  });
  return status === expected ? 0 : 1;
};
