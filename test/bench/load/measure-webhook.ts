import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withoutAws } from '../../../tools/local/emulator/aws-environment.ts';
import { median } from '../quantile.ts';
import type { Kind, Turn } from './webhook-process.ts';

/** The one that the others are compared with is the last. */
const kinds: readonly Kind[] = ['valid', 'encrypted', 'forged', 'bare'];

/** The medians of the turns of one kind. */
export type WebhookRate = {
  readonly kind: Kind;
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
};

const rateOf = (kind: Kind, turns: readonly Turn[]): WebhookRate => {
  const ofKind = turns.filter((turn) => turn.kind === kind);
  return {
    kind,
    perSecond: median(ofKind.map(({ deliveries, seconds }) => deliveries / seconds)),
    cpuMicroseconds: median(ofKind.map(({ deliveries, cpuSeconds }) => (cpuSeconds * 1e6) / deliveries)),
  };
};

const messageOf = async <Message>(child: ChildProcess, what: string): Promise<Message> => {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${what} exited with ${code} before it had finished.`);
  });
  const [message] = await Promise.race([once(child, 'message'), ended]);
  return message as Message;
};

/** The function's environment variables, with the stub's region and URL. */
const environment = (port: number) => ({
  ...withoutAws(process.env),
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  EXTRACTIONS_TABLE: 'Extractions',
  TASKS_TABLE: 'Tasks',
  WEBHOOK_SIGNING_KEY_SECRET: 'webhook-signing-key',
  SIGNING_KEY_REFRESH_SECONDS: '15',
  POLL_EVERY_SECONDS: '120',
  RECONCILE_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/reconcile',
  POWERTOOLS_SERVICE_NAME: 'receive-webhook',
  POWERTOOLS_METRICS_NAMESPACE: 'Cosecha/bench',
  POWERTOOLS_LOG_LEVEL: 'INFO',
});

/**
 * Measures deliveries per second through the real handler. It runs in its own process against a stub of AWS in another,
 * one delivery at a time as in Lambda. Turns alternate with a handler that makes only the same calls.
 */
export const measureWebhook = async (): Promise<readonly WebhookRate[]> => {
  const script = (name: string) => join(import.meta.dirname, name);
  const stub = fork(script('stub-aws.ts'));
  try {
    const port = await messageOf<number>(stub, 'The stub of AWS');
    const handler = fork(script('webhook-process.ts'), {
      env: environment(port),
      // Its log uses both streams: warnings go to standard error.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    try {
      const turns = await messageOf<readonly Turn[]>(handler, 'The measured handler');
      return kinds.map((kind) => rateOf(kind, turns));
    } finally {
      handler.kill();
    }
  } finally {
    stub.kill();
  }
};
