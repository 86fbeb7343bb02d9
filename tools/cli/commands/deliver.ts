import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../../../lib/aws/read-secret.ts';
import { isLocalStage } from '../../../lib/aws/stage.ts';
import { isProgrammingError } from '../../../lib/client/is-programming-error.ts';
import { type Extraction, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { NotConfigured } from '../../../lib/not-configured.ts';
import type { Deployment } from '../aws/deployment.ts';
import { extractionsOf, requireRecord, tasksOf } from '../aws/stores.ts';
import { type PredictedEffect, predictDelivery, signDelivery } from '../operate/sign-delivery.ts';
import { discardBody } from '../terminal/answer-body.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import { describeProgress } from '../terminal/operator-view.ts';
import type { CommandContext } from './command-context.ts';

export type DeliverOptions = {
  readonly extraction?: string;
  readonly status: string;
} & Readonly<Partial<Record<'encrypted' | 'forged' | 'orphan' | 'yes' | 'force', true>>>;

export const deliver = async (
  taskId: string | undefined,
  options: DeliverOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const named = taskId ?? (options.extraction === undefined ? taskOfNobody(options, shell) : undefined);
  if ((named === undefined) === (options.extraction === undefined)) {
    throw new UsageError('Name one task: a taskId, or --extraction <extractionId>.');
  }
  const deployment = await connect();
  const target = await findTarget(named, options, deployment, shell);
  if (options.forged !== true) {
    await requireConfirmation(predictDelivery(target.record), options, deployment.stage, shell);
  }
  const answer = await send(target.taskId, options, deployment, shell);
  const record = target.record && (await extractionsOf(deployment).get(target.record.extractionId));
  const expected = options.forged === true ? 401 : 204;
  const { status } = options;
  shell.print(describeAnswer({ answer, expected, status }, record), {
    taskId: target.taskId,
    answer,
    expected,
    extractionId: record?.extractionId,
    status: record?.status,
    ...(answer === 204 ? { effect: effectOn(record, status) } : {}),
  });
  return answer === expected ? 0 : 1;
};

/** A refused delivery and an orphan need no task that exists. */
const taskOfNobody = (
  { forged, orphan }: DeliverOptions,
  { randomId }: Pick<Shell, 'randomId'>,
): string | undefined => (forged === true || orphan === true ? randomId() : undefined);

type Target = { readonly taskId: string; readonly record: Extraction | undefined };

const findTarget = async (
  taskId: string | undefined,
  { extraction: extractionId = '' }: DeliverOptions,
  deployment: Deployment,
  { now }: Pick<Shell, 'now'>,
): Promise<Target> => {
  const tasks = tasksOf(deployment, now);
  if (taskId !== undefined) {
    const linked = (await tasks.get(taskId))?.extractionId;
    return { taskId, record: linked === undefined ? undefined : await extractionsOf(deployment).get(linked) };
  }
  const record = await requireRecord(deployment, extractionId);
  if (record.method === 'consent') {
    throw new CliError(
      `The provider sends no webhook for an extraction by consent. \`${deployment.command('reconcile', extractionId)}\` reads its status.`,
    );
  }
  if (record.taskId === undefined) throw new CliError(`${extractionId} is ${record.status} and has no task.`);
  const isLinked = (await tasks.get(record.taskId))?.extractionId === extractionId;
  return { taskId: record.taskId, record: isLinked ? record : undefined };
};

/** Throws CliError where the delivery would have an effect that no option or answer has confirmed. */
export const requireConfirmation = async (
  effect: PredictedEffect,
  { status: taskStatus, orphan, yes, force }: DeliverOptions,
  stage: string,
  { confirm }: Pick<Shell, 'confirm'>,
): Promise<void> => {
  if (effect.kind === 'harmless') return;
  if (effect.kind === 'orphan') {
    if (orphan === true) return;
    throw new CliError(
      'No extraction is linked to this task. The delivery would be kept for 30 days, be counted as UnlinkedDelivery, ' +
        'and settle a later task of this id. Use --orphan to send it, or --forged to see one refused.',
    );
  }
  const { extractionId, status } = effect.record;
  const warning = `${extractionId} is ${status}. You, not the provider, would settle it as ${taskStatus}.`;
  if (!isLocalStage(stage)) {
    if (force === true) return;
    throw new CliError(`${warning} Use --force to send it, or --forged to see one refused.`);
  }
  if (yes === true || (await confirm(`${warning} Type yes to send it:`, 'yes'))) return;
  throw new CliError(`${warning} Nothing was sent. Use --yes to send it.`);
};

const signingKey = async (forged: boolean, { client, name }: Deployment, shell: Shell): Promise<string> => {
  if (forged) return shell.randomId();
  const secrets = new SecretsManagerClient(client);
  return readSecret(secrets, `${name}/webhook-signing-key`).catch((cause: unknown) => {
    if (cause instanceof NotConfigured) throw new CliError(cause.message, { cause });
    throw cause;
  });
};

const send = async (
  taskId: string,
  { status: taskStatus, encrypted, forged }: DeliverOptions,
  deployment: Deployment,
  shell: Shell,
): Promise<number> => {
  const key = await signingKey(forged === true, deployment, shell);
  const { body, signature } = signDelivery({ taskId, taskStatus }, key, { encrypted: encrypted === true });
  const { webhookUrl } = deployment.api;
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  try {
    // 15 s, three times the provider's limit, so that a slow answer is still reported.
    const signal = AbortSignal.timeout(15_000);
    const answer = await fetch(webhookUrl, { method: 'POST', headers, body, signal });
    await discardBody(answer);
    return answer.status;
  } catch (cause) {
    if (isProgrammingError(cause)) throw cause;
    const explanation = explainFailure(cause) ?? 'Check that it is reachable from here.';
    throw new CliError(`${webhookUrl} did not answer. ${explanation}`, { cause });
  }
};

const refusals: Readonly<Record<number, string>> = {
  400: 'the signature is valid and the body is not a delivery, so this command and the service differ in version',
  401: 'refused, as the signature matches no signing key of the service',
  413: 'refused, as the body is too large',
  500: 'the service failed, and the provider would repeat the delivery; the log of receive-webhook has the cause',
  503: 'a secret is not filled, and the provider would repeat the delivery',
};

type DeliveryEffect = 'orphan' | 'agrees' | 'contradicts' | 'ignored';

/** What a verified delivery of this status did to `record`, which is as it is now. */
const effectOn = (record: Extraction | undefined, status: string): DeliveryEffect => {
  if (record === undefined) return 'orphan';
  if (record.status === status) return 'agrees';
  return isTerminalStatus(record.status) ? 'contradicts' : 'ignored';
};

const describeEffect = (record: Extraction | undefined, status: string): string => {
  if (record === undefined) return 'accepted, and kept as an orphan delivery';
  const { extractionId } = record;
  const progress = describeProgress(record);
  switch (effectOn(record, status)) {
    case 'contradicts':
      return `verified, and changed nothing: ${status} contradicts the recorded outcome, which stays. It is counted as StatusDisagreement; ${extractionId} is ${progress}`;
    case 'ignored':
      return `verified, and changed nothing: no webhook settles an extraction in this status; ${extractionId} is ${progress}`;
    default:
      return `accepted; ${extractionId} is ${progress}`;
  }
};

/**
 * The webhook's answer to a delivery of this status as a sentence, and a second one where another answer is expected.
 * `record` is as it is now.
 */
export const describeAnswer = (
  {
    answer,
    expected,
    status,
  }: { readonly answer: number; readonly expected: number; readonly status: string },
  record: Extraction | undefined,
): string => {
  const meaning =
    answer === 204
      ? describeEffect(record, status)
      : (refusals[answer] ?? 'not an answer of this service; check the output WebhookUrl');
  const correction =
    expected === 401
      ? 'The webhook should answer 401 to a wrong signature.'
      : `The webhook should answer ${expected} to a right signature.`;
  return `${answer}: ${meaning}.${answer === expected ? '' : ` ${correction}`}`;
};
