import { createDecipheriv, createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  type Call,
  checkApiKey,
  ok,
  type ProviderAnswer,
  type ProviderPorts,
  Refused,
  readBearer,
  readBody,
} from './call.ts';
import { deliver } from './deliver.ts';
import { hangSeconds, parseUsername, type Scenario } from './scenario.ts';
import { actionIds, issueTaskId, openTaskId, type Task, viewTask } from './task.ts';
import { issueToken } from './tokens.ts';

const loginSchema = v.object({ expire: v.optional(v.number(), 60) });

/** "Session token". */
export const logIn = async (call: Call): Promise<ProviderAnswer> => {
  await checkApiKey(call);
  const { expire } = readBody(call, loginSchema);
  return ok({ token: issueToken(call.key, 'session', [call.ports.nonce(), String(call.now + expire * 60)]) });
};

const taskSchema = v.object({
  credentials: v.variant('mode', [
    v.object({ mode: v.literal('raw'), value: v.looseObject({}) }),
    v.object({ mode: v.literal('encrypted'), value: v.string() }),
  ]),
  actions: v.pipe(v.array(v.object({ id: v.picklist(actionIds) })), v.minLength(1)),
  webhook: v.optional(
    v.object({
      enable: v.boolean(),
      retries: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(5)), 3),
    }),
    { enable: false },
  ),
});

/** "Start task (v2)", as its scenario demands. */
export const startTask = async (call: Call): Promise<ProviderAnswer> => {
  const { token } = readBearer(call, 'session');
  const { credentials, actions, webhook } = readBody(call, taskSchema);
  const scenario = parseUsername(usernameOf(credentials, token));
  if (scenario === undefined) throw new Refused(400, 'UNKNOWN_SCENARIO');
  if (call.now < scenario.busyUntil) throw new Refused(429, 'BUSY');
  if (scenario.start === 'refused') throw new Refused(422, 'REFUSED_BY_SCENARIO');
  const task = {
    ...scenario,
    endsAfter: scenario.start === 'after-webhook' ? 0 : scenario.endsAfter,
    startedAt: call.now,
    attempts: webhook.enable && scenario.webhook !== 'lost' ? webhook.retries : 0,
    actions: actions.map(({ id }) => id),
  };
  const taskId = issueTaskId(call.key, task, call.ports.nonce());
  const impossible = task.outcome === 'PARTIAL' && actions.length < 2;
  if (taskId === undefined || impossible) throw new Refused(400, 'UNSUITABLE_ACTIONS');
  await announce(taskId, task, call.ports);
  if (scenario.start === 'hangs') await call.ports.sleep(hangSeconds);
  if (scenario.start === 'breaks') throw new Refused(500, 'BROKEN_BY_SCENARIO');
  return ok({ taskId });
};

type Credentials = v.InferOutput<typeof taskSchema>['credentials'];

/** Decrypts temporary encryption, whose key is the session token ("Encryption scheme"). */
const usernameOf = ({ mode, value }: Credentials, sessionToken: string): unknown => {
  if (mode === 'raw') return value.username;
  const [ciphertext = '', iv = ''] = value.split('-');
  try {
    const key = createHash('sha256').update(sessionToken).digest();
    const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'));
    const text = Buffer.concat([decipher.update(ciphertext, 'base64'), decipher.final()]).toString();
    return (JSON.parse(text) as { readonly username?: unknown }).username;
  } catch {
    throw new Refused(400, 'UNDECRYPTABLE_CREDENTIALS');
  }
};

/** Delivers the webhook before the start call is answered, or queues it for the end of the task. */
const announce = async (taskId: string, task: Task & Pick<Scenario, 'start'>, ports: ProviderPorts) => {
  const delivery = { taskId, attempt: 1 };
  if (task.attempts === 0 || task.endsAfter === 'never') return;
  if (task.start === 'after-webhook') await deliver(delivery, ports);
  else await ports.queue(delivery, task.endsAfter);
};

/** "Read task (v2)". */
export const readTask = (call: Call): ProviderAnswer => {
  readBearer(call, 'session');
  const task = openTaskId(call.key, call.params[0] ?? '');
  if (task === undefined) throw new Refused(404, 'UNKNOWN_TASK');
  return ok(viewTask(task, call.now));
};
