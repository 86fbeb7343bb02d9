import * as v from 'valibot';
import { LOCAL_STAGE, stagePattern } from '../lib/aws/stage.ts';
import { worstCaseHistory } from './constructs/extraction-machine-definition.ts';

/** The retention periods that CloudWatch Logs accepts, in days (PutRetentionPolicy, `retentionInDays`). */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * What start-task does besides its calls to the provider: two secrets, one KMS call and four small writes.
 * Some 0.3 s when warm and about 1.5 s when cold, doubled.
 */
const OWN_WORK_SECONDS = 3;

/** Login, start, login again after a 401, start again: section 3 of the design allows no fifth call. */
const PROVIDER_CALLS_PER_START = 4;

/**
 * Step Functions ends an execution at 25,000 history events. Half of that, because a redrive goes on in the
 * same history: an operator must be able to redrive at least once.
 */
const HISTORY_BUDGET = 12_000;

/** The attempt number is redrives × 1000 + retries, so that it grows over both: retries stay below 1000. */
const MOST_START_RETRIES = 999;

const text = v.string('must be text');

const wholeNumber = (unit: string, least: number, most: number) =>
  v.pipe(
    v.union(
      [v.number(), v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))],
      range(unit, least, most),
    ),
    v.check((n) => Number.isInteger(n) && n >= least && n <= most, range(unit, least, most)),
  );

const range = (unit: string, least: number, most: number): string =>
  `must be a whole number of ${unit} from ${least} to ${most}`;

const seconds = (least: number, most: number) => wholeNumber('seconds', least, most);

const trueOrFalse = v.union(
  [
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((word) => word === 'true'),
    ),
  ],
  'must be true or false',
);

const DAY = 86_400;

/** Deadline and grace together stay below the 30 days that a row of the table Tasks is kept. */
const LONGEST_WAIT = 14 * DAY;

const providerUrl = v.pipe(
  text,
  v.check(
    (value) => addressProblem(value) === undefined,
    ({ input }) => addressProblem(input) ?? '',
  ),
  v.transform((value) => value.replace(/\/+$/, '')),
);

const addressProblem = (value: string): string | undefined => {
  if (!URL.canParse(value)) return 'must be an absolute http(s) address';
  const { protocol, username, password, search, hash } = new URL(value);
  if (!/^https?:$/.test(protocol)) return 'must be an absolute http(s) address';
  if (username + password !== '') {
    return 'must not carry a user name or password: they would end up in the template';
  }
  if (search + hash !== '') return 'must not have a query or a fragment: paths are appended to it';
  return undefined;
};

const PRINCIPAL_ARN =
  /^arn:aws[a-z-]*:(iam::\d{12}:(user|role)\/[\w+=,.@/-]+|iam::\d{12}:root|sts::\d{12}:assumed-role\/[\w+=,.@-]+)$/;

const principalArns = v.pipe(
  text,
  v.transform((value) =>
    value
      .split(',')
      .map((arn) => arn.trim())
      .filter((arn) => arn !== ''),
  ),
  v.check(
    (arns) => arns.every((arn) => PRINCIPAL_ARN.test(arn)),
    'must be a comma-separated list of ARNs of IAM users or roles, without session names',
  ),
);

/** Where the entries that alarms link to stand, in the repository itself. */
const RUNBOOK = 'docs/operations.md';

/**
 * Every setting, given as `-c name=value` or in the context of cdk.json. Two have no default: a deployment
 * must say which stage it is and which provider it talks to.
 */
const settings = {
  /** Part of the stack's name, `Cosecha-<stage>`, hence of its secrets and its machine. */
  stage: v.pipe(
    v.string('is required, for example -c stage=prod'),
    v.regex(stagePattern, 'must be 1 to 20 of a-z, 0-9 and "-", starting with a letter'),
  ),
  /** Where the provider's interface lives. https, since API keys and credentials travel there. */
  providerBaseUrl: v.pipe(
    v.string('is required, for example -c providerBaseUrl=https://provider.example'),
    providerUrl,
  ),

  /** How long the machine waits for the webhook before it starts to poll. Tasks take a minute or two. */
  webhookWaitSeconds: v.optional(seconds(2, DAY), 600),
  /** How long after the request a start may still be tried; afterwards the outcome is NOT_STARTED. */
  startWindowSeconds: v.optional(seconds(2, DAY), 900),
  /**
   * Timeout of start-task's function. A start attempt older than this is dead. It has to hold four provider
   * calls (4 × 20 s) and our own work.
   */
  startTimeoutSeconds: v.optional(seconds(4, 900), 90),
  /** How long after the request a task may run before the outcome is TIMED_OUT. */
  deadlineSeconds: v.optional(seconds(5, LONGEST_WAIT), 7_200),
  /** What the machine gets beyond the deadline, to read once more and to collect. */
  machineSlackSeconds: v.optional(seconds(2, DAY), 900),
  /** First, longest and growth of the poll's intervals. Jitter is full, so the mean interval is half of it. */
  pollFirstSeconds: v.optional(seconds(1, 3_600), 5),
  pollEverySeconds: v.optional(seconds(1, 3_600), 120),
  pollBackoff: v.optional(wholeNumber('times', 1, 10), 2),
  /** First and longest interval between tries to start while the provider is busy or out of reach. */
  startRetryFirstSeconds: v.optional(seconds(1, 3_600), 2),
  startRetryEverySeconds: v.optional(seconds(1, 3_600), 60),
  /** How long after the outcome the machine itself tries to collect; then the sweep does, ever more rarely. */
  collectInMachineSeconds: v.optional(seconds(1, 3_600), 300),
  /** How long results are asked for once the outcome is known; afterwards `collectionError` is recorded. */
  collectForSeconds: v.optional(seconds(1, 30 * DAY), DAY),
  /** How long after TIMED_OUT the provider's late answer is still looked for. */
  graceSeconds: v.optional(seconds(1, LONGEST_WAIT), DAY),
  /** How often the sweep runs: the guarantee behind every shortcut. EventBridge's finest rate is a minute. */
  sweepEveryMinutes: v.optional(wholeNumber('minutes', 1, 60), 5),

  /**
   * How long a closed record is kept. At least 91: Step Functions keeps an execution's name taken for 90 days
   * after it ended, so a record gone earlier would let an idempotency key come back and start nothing.
   */
  recordRetentionDays: v.optional(wholeNumber('days', 91, 3_653), 120),
  /** How long results stay in the bucket. */
  resultsRetentionDays: v.optional(wholeNumber('days', 1, 3_653), 30),
  /** The largest body of results that is stored. 20 MiB: reconcile-extraction holds it in memory several times. */
  resultsMaxBytes: v.optional(wholeNumber('bytes', 1_024, 50 * 1_048_576), 20_971_520),
  /** How long logs are kept; one of the periods that CloudWatch Logs knows. */
  logRetentionDays: v.optional(
    v.pipe(
      wholeNumber('days', 1, 3_653),
      v.check(
        (days) => LOG_RETENTION_DAYS.includes(days),
        `must be one of ${LOG_RETENTION_DAYS.join(', ')} days`,
      ),
    ),
    30,
  ),

  /** Until a connection stands; a connect that fails is the one failure that surely started nothing. */
  providerConnectTimeoutMs: v.optional(wholeNumber('milliseconds', 100, 30_000), 3_000),
  /** Until the provider has answered. A start call past it is UNCONFIRMED, never repeated: rather too long. */
  providerTimeoutMs: v.optional(wholeNumber('milliseconds', 200, 60_000), 20_000),
  /**
   * Whether raw credentials are sent to the provider encrypted under our session token ("Encryption scheme"),
   * beneath TLS. Off, as temporary encryption must first be activated for the client by the provider.
   */
  encryptRawCredentials: v.optional(trueOrFalse, false),
  /**
   * After a delivery that no known signing key verifies, how often at most the keys are read again. Below the
   * 30 s between two deliveries, so that a rotation loses none; not lower, so that forgeries cost nothing.
   */
  signingKeyRefreshSeconds: v.optional(seconds(1, 29), 15),
  /** The `expire` of the provider's session token; 60 is its default. */
  sessionMinutes: v.optional(wholeNumber('minutes', 1, 1_440), 60),

  /**
   * This stack's client identifier at the provider ("Create Task Token", `clientId`): what Task Tokens are made
   * for. Without it nothing can be done with consents, and those routes answer 503.
   */
  providerClientId: v.optional(v.pipe(text, v.uuid('must be the UUID that the provider supplies'))),
  /** The widget in which users authorize ("Create OTP token"). Without it no consent session can be opened. */
  widgetConfigId: v.optional(v.pipe(text, v.minLength(1, 'must not be empty'))),
  /**
   * How long a function keeps a user's Task Token in memory. How long the provider takes one is not shown; one
   * that has expired is noticed by its 401 and replaced.
   */
  taskTokenMinutes: v.optional(wholeNumber('minutes', 1, 60), 5),
  /** Throttle of each route of the consents: each call of theirs is up to four calls to the provider. */
  consentRateLimit: v.optional(wholeNumber('requests a second', 1, 10_000), 10),
  consentBurstLimit: v.optional(wholeNumber('requests', 1, 5_000), 20),

  /** Principals that may read every extraction, beside the one that requested it. Comma-separated ARNs. */
  readers: v.optional(principalArns, ''),

  /** Concurrency kept for the webhook alone. Unset by default: young accounts have too few to reserve. */
  webhookReservedConcurrency: v.optional(wholeNumber('executions', 1, 1_000)),
  /**
   * The most that may run at once of the two functions that wait for the provider: one that hangs would otherwise take
   * the account's Lambdas from intake and webhook. What is throttled the machine tries again. It has to bear the peak:
   * starts a second × 0.5 s (1 s by consent), and a start that finds no room for the whole start window ends as NOT_STARTED. Lambda wants 100
   * of the account left to everybody, or the deployment fails (PutFunctionConcurrency).
   */
  startReservedConcurrency: v.optional(wholeNumber('executions', 1, 10_000)),
  reconcileReservedConcurrency: v.optional(wholeNumber('executions', 1, 10_000)),
  /** Throttle of the authorized routes, in requests a second and as a burst. */
  apiRateLimit: v.optional(wholeNumber('requests a second', 1, 10_000), 50),
  apiBurstLimit: v.optional(wholeNumber('requests', 1, 5_000), 100),
  /** Throttle of the open webhook route: a flood must not starve the account. The provider redelivers on 429. */
  webhookRateLimit: v.optional(wholeNumber('requests a second', 1, 10_000), 100),
  webhookBurstLimit: v.optional(wholeNumber('requests', 1, 5_000), 200),

  /** Where every alarm tells that it sounds, and that it is over: an SNS topic. Without it they are only seen. */
  alarmTopicArn: v.optional(
    v.pipe(
      text,
      v.regex(
        /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
        'must be the ARN of a standard SNS topic',
      ),
    ),
  ),
  /** The operator on call reads the alarm, not the repository: the address of a copy of docs/operations.md. */
  runbookUrl: v.optional(
    v.pipe(
      text,
      v.check(
        (value) => value === RUNBOOK || /^https:\/\/[^\s#]{1,300}$/.test(value),
        'must be an https address, without a fragment, of a copy of docs/operations.md',
      ),
    ),
    RUNBOOK,
  ),
  /** Whether outcomes are put on an EventBridge bus too, for more readers than the two that the stream takes. */
  fanOutToEventBus: v.optional(trueOrFalse, false),

  /** A domain of one's own, so that the URL registered at the provider survives a rebuild. */
  domainName: v.optional(
    v.pipe(
      text,
      v.regex(
        /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
        'must be a lower-case host name',
      ),
    ),
  ),
  /** The certificate for that domain, issued in the stack's region. */
  certificateArn: v.optional(
    v.pipe(
      text,
      v.regex(
        /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
        'must be the ARN of a certificate in AWS Certificate Manager',
      ),
    ),
  ),
};

const schema = v.object(settings);

export const settingNames: readonly string[] = Object.keys(settings);

/** Every setting, validated. Names end in their unit. */
export type Config = Readonly<v.InferOutput<typeof schema>>;

/** One or more settings are missing, misspelt or make no sense together. The message is a sentence for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the settings from the CDK context (`app.node.getAllContext()`): validated, with defaults, frozen.
 * @throws {ConfigError} with one sentence for every setting that is wrong
 */
export const readConfig = (context: Readonly<Record<string, unknown>>): Config => {
  const given = Object.fromEntries(Object.entries(context).filter(([name]) => name in settings));
  // Named although absent, so that the two required ones say that they are required.
  const parsed = v.safeParse(schema, { stage: undefined, providerBaseUrl: undefined, ...given });
  const wrong = [
    ...unknownSettings(context),
    ...(parsed.issues ?? []).map((issue) => `Setting ${String(issue.path?.[0]?.key)} ${issue.message}.`),
  ];
  if (!parsed.success) throw new ConfigError(wrong.join('\n'));
  const config = Object.freeze(parsed.output);
  const all = [...wrong, ...contradictions(config)];
  if (all.length > 0) throw new ConfigError(all.join('\n'));
  return config;
};

/**
 * A misspelt setting would otherwise be ignored in silence. CDK's own context keys have a ":", "/" or "-" in
 * them; ours, and nothing else, are plain words.
 */
const unknownSettings = (context: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(context)
    .filter((name) => /^[A-Za-z][A-Za-z0-9]*$/.test(name) && !(name in settings))
    .map((name) => `Setting ${name} is unknown; infra/config.ts lists the settings.`);

/** Settings that are fine alone and nonsense together, a sentence for each. */
const contradictions = (config: Config): string[] => {
  const local = config.stage === LOCAL_STAGE;
  const startNeedsSeconds = (PROVIDER_CALLS_PER_START * config.providerTimeoutMs) / 1_000 + OWN_WORK_SECONDS;
  const history = worstCaseHistory(config);
  const rules: readonly (readonly [wrong: boolean, sentence: string])[] = [
    [
      !local && !config.providerBaseUrl.startsWith('https://'),
      `Setting providerBaseUrl must be an https address: only the stage "${LOCAL_STAGE}" may send credentials in the clear.`,
    ],
    [
      config.providerConnectTimeoutMs > config.providerTimeoutMs,
      'Setting providerConnectTimeoutMs must not exceed providerTimeoutMs, which contains it.',
    ],
    [
      startNeedsSeconds > config.startTimeoutSeconds,
      `Setting startTimeoutSeconds (${config.startTimeoutSeconds}) is too short: login, start, login again and start again take up to ${PROVIDER_CALLS_PER_START} × providerTimeoutMs (${config.providerTimeoutMs}) and ${OWN_WORK_SECONDS} s of our own work, ${startNeedsSeconds} s.`,
    ],
    [
      config.webhookWaitSeconds <= config.startTimeoutSeconds,
      'Setting webhookWaitSeconds must exceed startTimeoutSeconds: else the machine gives up a start that is still going on.',
    ],
    [
      config.deadlineSeconds < config.startWindowSeconds + config.webhookWaitSeconds,
      'Setting deadlineSeconds must be at least startWindowSeconds + webhookWaitSeconds: else an extraction started late in its window is timed out before its webhook is due.',
    ],
    [
      config.pollFirstSeconds > config.pollEverySeconds,
      'Setting pollFirstSeconds must not exceed pollEverySeconds, to which it grows.',
    ],
    [
      config.startRetryFirstSeconds > config.startRetryEverySeconds,
      'Setting startRetryFirstSeconds must not exceed startRetryEverySeconds, to which it grows.',
    ],
    [
      config.machineSlackSeconds <= config.pollEverySeconds,
      'Setting machineSlackSeconds must exceed pollEverySeconds: else the machine may end before the poll that finds the deadline passed.',
    ],
    [
      config.resultsRetentionDays > config.recordRetentionDays,
      'Setting resultsRetentionDays must not exceed recordRetentionDays: results whose record is gone cannot be found.',
    ],
    [
      history.startRetries > MOST_START_RETRIES,
      `Setting startRetryEverySeconds is too short: it makes up to ${history.startRetries} tries to start, more than ${MOST_START_RETRIES}.`,
    ],
    [
      history.events > HISTORY_BUDGET,
      `Setting pollEverySeconds (or startRetryEverySeconds) is too short for deadlineSeconds: an execution could write ${history.events} history events, more than ${HISTORY_BUDGET} (Step Functions ends it at 25,000).`,
    ],
    [
      config.widgetConfigId !== undefined && config.providerClientId === undefined,
      'Setting widgetConfigId needs providerClientId: a consent session is opened with both.',
    ],
    [
      (config.domainName === undefined) !== (config.certificateArn === undefined),
      'Settings domainName and certificateArn go together: give both or neither.',
    ],
  ];
  return rules.flatMap(([wrong, sentence]) => (wrong ? [sentence] : []));
};
