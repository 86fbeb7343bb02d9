import { DescribeStateMachineCommand, type SFNClient } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { CliError } from '../terminal/errors.ts';

/** Delays that a state of the machine draws between two tries: uniform from 0 to a bound that grows up to `every`. */
export type RetryDelays = { readonly first: number; readonly every: number; readonly backoff: number };

/** When the machine tries again. All in seconds. */
export type MachineSettings = {
  /** For how long it waits for the webhook before it polls. */
  readonly webhookWait: number;
  readonly startRetry: RetryDelays;
  readonly poll: RetryDelays;
};

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
export const readMachineSettings = async (client: SFNClient, stateMachineArn: string) => {
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
