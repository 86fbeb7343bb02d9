import { randomBytes } from 'node:crypto';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import type { Deployment } from '../aws/deployment.ts';
import type { StreamRecord } from '../aws/follow-stream.ts';
import { extractionsOf } from '../aws/stores.ts';
import { dynamoStreamReader } from '../listen/dynamo-stream-reader.ts';
import { forwardEvent, secretPrefix } from '../listen/forward-event.ts';
import { type HandleStreamOptions, handleStream, type Progress } from '../listen/handle-stream.ts';
import { asLambdaEvent, lambdaFailureIn } from '../listen/lambda-event.ts';
import {
  defaultStateFile,
  type ListenState,
  readListenState,
  writeListenState,
} from '../listen/listen-state.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError, exitCodes, UsageError } from '../terminal/errors.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type ListenOptions = {
  readonly forwardTo?: string;
  readonly print?: true;
  readonly raw?: true;
  readonly all?: true;
  readonly since?: Since;
  readonly replay?: string;
  readonly state?: string;
};

export const listen = async (options: ListenOptions, { shell, connect }: CommandContext): Promise<number> => {
  if (options.forwardTo === undefined && options.print !== true) {
    throw new UsageError('Name a handler with --forward-to <url>, or use --print.');
  }
  if (options.replay !== undefined && options.since !== undefined) {
    throw new UsageError('--replay sends what the stream still has of one extraction. Omit --since.');
  }
  const deployment = await connect();
  const file = options.state ?? defaultStateFile(deployment.stage, process.env);
  const saved = await readListenState(file);
  const secret = saved?.secret ?? `${secretPrefix}${randomBytes(32).toString('base64')}`;
  const plan = planOf(options, saved, deployment.output('ExtractionsStreamArn'), shell.now());
  if (options.forwardTo !== undefined) {
    const facts = { forwardTo: options.forwardTo, secret };
    shell.print(`Signing secret, as in https://www.standardwebhooks.com: ${secret}`, facts);
  }
  const { streamArn } = plan;
  return run(plan, { ...options, streamArn, secret, file, deployment, shell });
};

const streamKeepsMs = 24 * 3_600_000;

type Plan = HandleStreamOptions & {
  readonly streamArn: string;
  readonly progress: Progress;
  readonly origin: string;
};

export const planOf = (
  { replay, since }: Pick<ListenOptions, 'replay' | 'since'>,
  saved: ListenState | undefined,
  streamArn: string,
  now: Date,
): Plan => {
  const from = (time: Date): Progress => ({ since: time.toISOString(), positions: {} });
  if (replay !== undefined) {
    const origin = `what the stream still has of ${replay}`;
    return { streamArn, progress: from(new Date(0)), origin, endsAt: now };
  }
  if (since !== undefined) {
    if (now.getTime() - since(now).getTime() > streamKeepsMs) {
      throw new UsageError('The stream keeps events for 24 hours. Name a later --since.');
    }
    return { streamArn, progress: from(since(now)), origin: `events since ${since(now).toISOString()}` };
  }
  if (saved?.streamArn === streamArn) {
    return { streamArn, progress: saved.progress, origin: 'events since the last run' };
  }
  const explanation = saved === undefined ? '' : ', as the stream is another than in the last run';
  return { streamArn, progress: from(now), origin: `events from now on${explanation}`, atNewest: true };
};

/** As the filter of the construct (docs/stream.md): what has an outcome, or had one. */
const hasOutcome = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage !== undefined &&
  (dynamodb.NewImage.settledAt !== undefined || dynamodb.OldImage?.settledAt !== undefined);

const isWanted = (record: StreamRecord, { all, replay }: ListenOptions): boolean =>
  (all === true || hasOutcome(record)) &&
  (replay === undefined || record.dynamodb?.Keys?.extractionId?.S === replay);

type RunInput = ListenOptions & {
  readonly streamArn: string;
  readonly secret: string;
  readonly file: string;
  readonly deployment: Deployment;
  readonly shell: Shell;
};

/** Reports why a replay sent nothing. `inStream`: of its changes, those that the stream has. Throws CliError for an unknown id. */
export const reportEmptyReplay = async (
  extractionId: string,
  inStream: number,
  exists: () => Promise<boolean>,
  { hint }: Pick<Shell, 'hint'>,
): Promise<void> => {
  if (inStream > 0) {
    hint(`Nothing was sent: ${extractionId} has no outcome. --all sends its other changes.`);
    return;
  }
  if (!(await exists())) {
    throw new CliError(
      `The extraction ${extractionId} is unknown: there is no record, and the stream has nothing of it.`,
    );
  }
  hint(`Nothing was sent: the stream has nothing of ${extractionId}, as it keeps events for 24 hours.`);
};

/** Returns the exit code: only a replay ends by itself. */
const run = async (plan: Plan, input: RunInput): Promise<number> => {
  const { secret, file, deployment, shell, replay } = input;
  const count = { inStream: 0, sent: 0 };
  const handle = async (record: StreamRecord): Promise<boolean> => {
    if (record.dynamodb?.Keys?.extractionId?.S === replay) count.inStream += 1;
    if (!isWanted(record, input)) return true;
    count.sent += 1;
    return handOut(record, input, signal);
  };
  const signal = shell.interrupted();
  const { streamArn, progress } = plan;
  const save = (now: Progress) => writeListenState(file, { streamArn, secret, progress: now });
  // Before the first record, so that a run which is killed before it continues here.
  if (replay === undefined) await save(progress);
  shell.hint('Reading the shards of the stream, which takes some seconds.');
  await handleStream(progress, plan, {
    reader: dynamoStreamReader(new DynamoDBStreamsClient(deployment.client), streamArn, signal),
    handle,
    save: replay === undefined ? save : async () => {},
    sleep: shell.sleep,
    onReady: () =>
      shell.hint(
        `Listening for ${plan.origin}; Ctrl-C stops it. This uses one of the two consumer slots of each shard of the stream.`,
      ),
    onUnreachable: () => shell.hint('The stream does not answer. It is tried again.'),
    onTrimmed: () =>
      shell.hint(
        'Events may be lost: the stream keeps them for 24 hours. Catch up from the table (docs/stream.md).',
      ),
    signal,
  }).catch((error: unknown) => {
    // The SDK's calls end with an error of their own when Ctrl-C aborts them.
    if (!signal.aborted) throw error;
  });
  if (signal.aborted) return exitCodes.interrupted;
  if (replay !== undefined && count.sent === 0) {
    const exists = async () => (await extractionsOf(deployment).get(replay)) !== undefined;
    await reportEmptyReplay(replay, count.inStream, exists, shell);
  }
  return exitCodes.done;
};

/** As a raw event, a record of a later schema is the handler's to judge, as it is on Lambda. */
const handedOut = (record: StreamRecord, { raw, streamArn }: RunInput) => {
  const event = decodeExtractionEvent(record);
  if (event.kind === 'not-ours' && raw !== true)
    throw new CliError(`A record of the stream cannot be read. ${event.problem}`);
  const extractionId = record.dynamodb?.Keys?.extractionId?.S ?? '';
  const eventId = record.eventID ?? '';
  const content = raw === true ? { ...asLambdaEvent(record, streamArn) } : event;
  const status = 'extraction' in event ? `  ${event.extraction.status}` : '';
  return {
    eventId,
    body: JSON.stringify(content),
    content,
    name: `${extractionId}  ${event.kind}${status}  ${eventId}`,
    facts: { kind: event.kind, extractionId, eventId },
  };
};

/** False if it was interrupted. */
const handOut = async (record: StreamRecord, input: RunInput, signal: AbortSignal): Promise<boolean> => {
  const { forwardTo, print, raw, secret, shell } = input;
  const { name, facts, content, ...posted } = handedOut(record, input);
  const status =
    forwardTo === undefined
      ? undefined
      : await forwardEvent(posted, {
          ...(raw === true ? { failureIn: lambdaFailureIn } : {}),
          url: forwardTo,
          secret,
          fetch,
          now: shell.now,
          sleep: shell.sleep,
          onFailed: (answer, tries, pause) =>
            shell.hint(`${name} → ${answer}; try ${tries + 1} in ${formatSeconds(pause / 1_000)}`),
          signal,
        });
  if (forwardTo !== undefined && status === undefined) return false;
  shell.print(
    print === true ? posted.body : `${name} → ${status}`,
    print === true ? content : { ...facts, answer: status },
  );
  return true;
};
