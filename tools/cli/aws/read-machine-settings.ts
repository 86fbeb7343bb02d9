import { DescribeStateMachineCommand, type SFNClient } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import type { RetryDelays, StorySettings } from '../explain/sources.ts';
import { CliError } from '../terminal/errors.ts';

const retrier = v.object({
  IntervalSeconds: v.number(),
  BackoffRate: v.number(),
  MaxDelaySeconds: v.optional(v.number()),
});

/** The part of the definition that decides when the machine tries again (extraction-machine-definition.ts). */
const schema = v.object({
  States: v.object({
    StartTask: v.object({ TimeoutSeconds: v.number(), Retry: v.pipe(v.array(retrier), v.minLength(1)) }),
    Reconcile: v.object({ Retry: v.pipe(v.array(retrier), v.minLength(1)) }),
  }),
});

/** The last retrier is the general one. */
const delaysOf = (retriers: readonly v.InferOutput<typeof retrier>[]): RetryDelays => {
  const { IntervalSeconds: first = 1, BackoffRate: backoff = 1, MaxDelaySeconds } = retriers.at(-1) ?? {};
  return { first, backoff, every: MaxDelaySeconds ?? first };
};

/** The times of the deployed machine. Throws CliError if its definition has another form, and the SDK's errors. */
export const readMachineSettings = async (
  client: SFNClient,
  stateMachineArn: string,
): Promise<Omit<StorySettings, 'timings'>> => {
  const { definition = '' } = await client.send(new DescribeStateMachineCommand({ stateMachineArn }));
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), definition);
  if (!parsed.success) {
    throw new CliError('The state machine has another definition. Deploy it with this version of Cosecha.');
  }
  const { StartTask, Reconcile } = parsed.output.States;
  return {
    webhookWait: StartTask.TimeoutSeconds,
    startRetry: delaysOf(StartTask.Retry),
    poll: delaysOf(Reconcile.Retry),
  };
};
