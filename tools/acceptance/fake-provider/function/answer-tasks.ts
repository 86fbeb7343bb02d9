import * as v from 'valibot';
import { decrypt } from '../../../../sandbox/encryption-scheme.ts';
import { type Call, checkApiKey, readBearer, readBody, refused } from './call.ts';
import { deliver } from './deliver.ts';
import { issueToken } from './issue-token.ts';
import { hangSeconds, parseUsername, slowSeconds } from './scenario.ts';
import { actionIds, issueTaskId, openTaskId, viewTask } from './task.ts';

const loginSchema = v.object({ expire: v.optional(v.number(), 60) });

/** "Session token". */
export const logIn = async (call: Call) => {
  const { ports, key, now } = call.var;
  await checkApiKey(call);
  const { expire } = await readBody(call, loginSchema);
  return call.json({ token: issueToken(key, 'session', [ports.nonce(), now + expire * 60]) });
};

const taskSchema = v.object({
  credentials: v.variant('mode', [
    v.object({ mode: v.literal('raw'), value: v.looseObject({}) }),
    v.object({ mode: v.literal('encrypted'), value: v.string() }),
  ]),
  // A taskId has no room for more.
  actions: v.pipe(v.array(v.object({ id: v.picklist(actionIds) })), v.minLength(1), v.maxLength(5)),
  webhook: v.optional(
    v.object({
      enable: v.boolean(),
      retries: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(5)), 3),
    }),
    { enable: false },
  ),
});

/** "Start task (v2)", as its scenario demands. */
export const startTask = async (call: Call) => {
  const { ports, key, now } = call.var;
  const { token } = readBearer(call, 'session');
  const { credentials, actions, webhook } = await readBody(call, taskSchema);
  const scenario = parseUsername(usernameOf(credentials, token));
  if (scenario === undefined) throw refused(400, 'UNKNOWN_SCENARIO');
  if (now < scenario.busyUntil) throw refused(429, 'BUSY');
  if (scenario.start === 'refused') throw refused(422, 'REFUSED_BY_SCENARIO');
  if (scenario.outcome === 'PARTIAL' && actions.length < 2) throw refused(400, 'UNSUITABLE_ACTIONS');
  const isEarly = scenario.start === 'after-webhook';
  const attempts = webhook.enable && scenario.webhook !== 'lost' ? webhook.retries : 0;
  const task = {
    ...scenario,
    startedAt: now,
    attempts,
    actions: actions.map(({ id }) => id),
    endsAfter: isEarly ? 0 : scenario.endsAfter,
  };
  const taskId = issueTaskId(key, task, ports.nonce());
  if (attempts > 0 && task.endsAfter !== 'never') {
    const delivery = { taskId, attempt: 1 };
    await (isEarly ? deliver(delivery, ports) : ports.queue(delivery, task.endsAfter));
  }
  if (scenario.start === 'slow') await ports.sleep(slowSeconds);
  if (scenario.start === 'hangs') await ports.sleep(hangSeconds);
  if (scenario.start === 'breaks') throw refused(500, 'BROKEN_BY_SCENARIO');
  return call.json({ taskId });
};

type Credentials = v.InferOutput<typeof taskSchema>['credentials'];

const encryptedSchema = v.pipe(v.string(), v.parseJson(), v.object({ username: v.unknown() }));

/** Decrypts temporary encryption, whose key is the session token ("Encryption scheme"). */
const usernameOf = ({ mode, value }: Credentials, sessionToken: string): unknown => {
  if (mode === 'raw') return value.username;
  const parsed = v.safeParse(encryptedSchema, decrypt(value, sessionToken));
  if (!parsed.success) throw refused(400, 'UNDECRYPTABLE_CREDENTIALS');
  return parsed.output.username;
};

/** "Read task (v2)". */
export const readTask = (call: Call) => {
  readBearer(call, 'session');
  const task = openTaskId(call.var.key, call.req.param('taskId') ?? '');
  if (task === undefined) throw refused(404, 'UNKNOWN_TASK');
  return call.json(viewTask(task, call.var.now));
};
