import { Token } from 'aws-cdk-lib';
import * as v from 'valibot';
import { disposableStagePattern, isLocalStage, stagePattern } from '../../lib/aws/stage.ts';
import { notShownEndpoints } from '../../lib/provider/assumptions.ts';
import {
  actionsWithParams,
  decimalNumber,
  endpoint,
  entityNames,
  entitySlugs,
  principalArns,
  providerUrl,
  seconds,
  text,
  textOf,
  trueOrFalse,
  values,
  wholeNumber,
} from './setting-value-schemas.ts';

/** The text about a setting in docs/settings.md. Its default and `values` are in its schema. */
type About = {
  /** What it does, in one or two sentences. */
  readonly description: string;
  /** Why the default, or a limit, is what it is. */
  readonly reason?: string;
};

const describe = <const Schema extends v.GenericSchema>(schema: Schema, about: About) =>
  v.pipe(schema, v.metadata<v.InferOutput<Schema>, About>(about));

/** A setting that may be omitted. */
const optional = <const Schema extends v.GenericSchema>(schema: Schema, about: About) =>
  v.optional(describe(schema, about));

/** A setting that has a default. */
const withDefault = <const Schema extends v.GenericSchema, const Default extends v.InferInput<Schema>>(
  schema: Schema,
  byDefault: Default,
  about: About,
) => v.optional(describe(schema, about), byDefault);

const daySeconds = 86_400;

/** Deadline and grace together stay below the 30 days that an item of the table Tasks is kept. */
const fortnightSeconds = 14 * daySeconds;

/** "1 year. If an execution runs for more than the 1-year maximum, it will fail" (Step Functions guide, "Quotas"). */
export const maxExecutionSeconds = 365 * daySeconds;

/** The retention periods that CloudWatch Logs accepts, in days (PutRetentionPolicy, `retentionInDays`). */
const logRetentionPeriods = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * What start-task does besides its calls to the provider: a secret, one KMS call, two reads and five small writes.
 * Some 0.3 s when warm and about 1.5 s when cold, doubled.
 */
export const ownWorkSeconds = 3;

/**
 * Login and start, and both again after a 401. A login that is repeated with a rotated key is a fifth call, but the 401
 * before it was an answer, not a timeout.
 */
export const providerCallsPerStart = 4;

/** The page of this repository that alarms link to by default. */
const repositoryRunbook = 'docs/operations.md';

// The settings, by chapter of docs/settings.md. Set each in stages/<stage>.json or as `-c name=value`.

const required = {
  stage: describe(
    v.pipe(
      v.string('is required, such as prod'),
      v.regex(stagePattern, 'must be 1 to 17 of a-z, 0-9 and "-", starting with a letter'),
      values('1 to 17 of `a-z`, `0-9` and `-`, starting with a letter'),
    ),
    {
      description:
        'Names the deployment. The stack is `Cosecha-<stage>`, and its secrets, alarms and state machine carry the same name.',
      reason: `The stages \`local\` and \`local-…\` are for emulators: they alone may use plain http, and their tables and bucket are deleted with them.`,
    },
  ),
  providerBaseUrl: describe(
    v.pipe(
      v.string('is required: the base address of your provider’s API'),
      providerUrl,
      values('absolute address, without user, query or fragment'),
    ),
    {
      description: 'The base address of the provider’s API. A path in it is kept.',
      reason: `API keys and credentials travel there, so it must be https except in the stages \`local\` and \`local-…\`.`,
    },
  ),
};

const starting = {
  entities: withDefault(entityNames, '', {
    description:
      'The banks and other entities that a request may name. Any other is answered 400, with the nearest of these. Without it, every request goes to the provider.',
    reason:
      'A misspelt entity would otherwise be found out by the provider only. `doctor --provider` compares the list with the provider’s.',
  }),
  moreActions: withDefault(actionsWithParams, '', {
    description:
      'Actions that the provider has added to `movement`, `product-balance` and `tef`. One that needs dates ends in `:dateRange`.',
    reason: 'Other params could be personal data, and params are shown in the record.',
  }),
  startWindowSeconds: withDefault(seconds(2, daySeconds), 900, {
    description:
      'How long after the request a start may be attempted. Afterwards the extraction ends `NOT_STARTED`.',
  }),
  startTimeoutSeconds: withDefault(seconds(4, 900), 90, {
    description:
      'How long one invocation of start-task may run. Afterwards its start counts as interrupted, and the extraction ends `UNCONFIRMED`.',
    reason: `It must be long enough for ${providerCallsPerStart} provider calls of \`providerTimeoutMs\` each, the read of a consent (\`providerTimeoutMs\`, 3 s at most) and ${ownWorkSeconds} s of Cosecha’s own work.`,
  }),
  startsPerSecond: optional(decimalNumber('starts a second', 0.001, 200), {
    description:
      'How many starts the provider takes a second. Those above it wait in line. Without it, there is no limit until the provider answers 429, and then the rate is learnt.',
    reason:
      'Each start in line is written to one partition of an index twice, which takes 1,000 writes a second.',
  }),
  maxWaitSeconds: withDefault(seconds(1, maxExecutionSeconds), 21_600, {
    description:
      'How long an extraction may wait in line for the provider’s rate, beside its start window. Afterwards it ends `NOT_STARTED`, with the `lastProblem` `waited-too-long`.',
    reason: 'At 5 starts a second, 10,000 take 34 minutes and 100,000 take 5.6 hours.',
  }),
  refusedCredentialsDays: withDefault(wholeNumber('days', 0, 28), 7, {
    description:
      'For how many days raw credentials that ended `CREDENTIALS_WRONG` are not sent again, unless the request says `confirmed`. 0 sends them each time.',
    reason: 'Banks lock an account after three or four wrong passwords.',
  }),
  startRetryEverySeconds: withDefault(seconds(1, 3_600), 60, {
    description: 'The longest interval between start attempts, to which the first one doubles.',
  }),
};

const polling = {
  providerSendsWebhooks: withDefault(trueOrFalse, true, {
    description:
      'Whether the provider sends webhooks. If not, none is requested, and tasks are polled by the reconcile queue from their start on.',
    reason:
      'It sends them once its support has activated them, and never from its sandbox. Without one, each extraction would wait for `webhookWaitSeconds`, and `webhooks-missed` would be in alarm.',
  }),
  webhookWaitSeconds: withDefault(seconds(2, daySeconds), 600, {
    description: 'How long the state machine waits for the webhook before it polls the provider.',
    reason:
      'Assumed: a task takes a minute or two. The provider’s API document does not say how long. If yours take longer, set more than the longest of them.',
  }),
  pollEverySeconds: withDefault(seconds(1, 3_600), 120, {
    description: 'The longest interval between polls.',
  }),
};

const deadlines = {
  deadlineSeconds: withDefault(seconds(5, fortnightSeconds), 7_200, {
    description: 'How long after the request an extraction may run before it ends `TIMED_OUT`.',
    reason: 'Deadline and grace together stay below the 30 days that an item of the table Tasks is kept.',
  }),
  graceSeconds: withDefault(seconds(1, fortnightSeconds), daySeconds, {
    description:
      'How long after `TIMED_OUT` the provider is still read. A final status found then corrects the outcome.',
  }),
  collectForSeconds: withDefault(seconds(1, 30 * daySeconds), daySeconds, {
    description:
      'How long after the outcome results are requested from the provider. Afterwards `collectionError` is recorded and the record closes.',
  }),
  resultsLagSeconds: withDefault(seconds(1, 30 * daySeconds), 600, {
    description:
      'How long after the outcome results are read again while an action of the request, or all data of a consent, is missing from them. Afterwards what is there is stored, with the `lastProblem` `results-incomplete`.',
    reason:
      'The provider may report the end of a task before a read shows its results. It is never longer than `collectForSeconds`.',
  }),
};

const retention = {
  recordRetentionDays: withDefault(wholeNumber('days', 91, 3_653), 120, {
    description: 'How long a closed record is kept.',
    reason:
      'Step Functions keeps an execution’s name for 90 days after its end. If the record went earlier, a repeated idempotency key would start nothing.',
  }),
  resultsRetentionDays: withDefault(wholeNumber('days', 1, 3_653), 31, {
    description: 'How long results stay in the bucket.',
    reason: 'A month can be exported after its end.',
  }),
  resultsMaxBytes: withDefault(wholeNumber('bytes', 1_024, 50 * 1_048_576), 20_971_520, {
    description: 'The largest results that are stored. Larger ones end with `results-too-large`.',
    reason: 'reconcile-extraction holds them in memory; its memory size follows this setting.',
  }),
  logRetentionDays: withDefault(
    v.pipe(
      wholeNumber('days', 1, 3_653),
      v.check(
        (days) => logRetentionPeriods.includes(days),
        `must be one of ${logRetentionPeriods.join(', ')} days`,
      ),
      values(`days, one of ${logRetentionPeriods.join(', ')}`),
    ),
    30,
    {
      description: 'How long logs are kept.',
      reason: 'CloudWatch Logs accepts only these periods.',
    },
  ),
};

const provider = {
  providerTimeoutMs: withDefault(wholeNumber('milliseconds', 200, 60_000), 20_000, {
    description: 'How long Cosecha waits for the whole answer of the provider to one call.',
    reason:
      'Without an answer in time, a start ends `UNCONFIRMED` and is never repeated. So choose it longer than the slowest answer of the provider.',
  }),
  breakerFailures: withDefault(wholeNumber('extractions', 1, 1_000), 5, {
    description:
      'After how many failed extractions of one caller and entity their starts are held, and after how many such groups those of the whole caller. An accepted start resets the count. Failed connects, timeouts, resets and 5xx count.',
    reason: 'Each such start call may end `UNCONFIRMED`.',
  }),
  breakerSlowCallSeconds: withDefault(seconds(1, 9), 5, {
    description:
      'When a start call that is still under way counts as failed. Its acceptance takes that back.',
    reason:
      'Otherwise a start that hangs counts after `providerTimeoutMs` (20 s), and all starts of that time are `UNCONFIRMED`. The dispatcher judges the calls of ten seconds, in which a slow one has to be.',
  }),
  encryptRawCredentials: withDefault(trueOrFalse, false, {
    description:
      'Whether raw credentials are sent to the provider encrypted under the session token, inside TLS.',
    reason: 'The provider must first activate temporary encryption for the client.',
  }),
};

/** As settings have an endpoint: `GET /path`. */
const assumed = (name: keyof typeof notShownEndpoints): string => {
  const { method, path } = notShownEndpoints[name];
  return `${method} ${path}`;
};

const notShown = 'The provider’s API document does not show it, so the default is a guess.';
const withBody = ['POST', 'PUT', 'PATCH', 'DELETE'];

const consents = {
  providerClientId: optional(
    textOf('the UUID that the provider supplies', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i),
    {
      description:
        'This stack’s client identifier at the provider, for which Task Tokens are made. Without it, requests about consents are answered 501.',
    },
  ),
  widgetConfigId: optional(
    v.pipe(
      text,
      v.minLength(1, 'must not be empty'),
      values('text, supplied by the provider; case-sensitive'),
    ),
    {
      description:
        'The widget in which users authorize. Without it, no consent session can be opened. Needs `providerClientId`.',
    },
  ),
  consentPdfEndpoint: withDefault(endpoint(['GET', 'POST'], '{consentId}'), assumed('consentPdf'), {
    description: 'Method and path of “Consent PDF” at the provider.',
    reason: notShown,
  }),
  revokeConsentEndpoint: withDefault(endpoint(withBody, '{consentId}'), assumed('revokeConsent'), {
    description: 'The same of “Revoke consent”, whose body has the `consentId`.',
    reason: notShown,
  }),
  startExtractionV2Endpoint: withDefault(endpoint(withBody), assumed('startExtractionV2'), {
    description: 'The same of the start of the v2 variant of an extraction by consent.',
    reason: notShown,
  }),
  pollExtractionV2Endpoint: withDefault(endpoint(['GET', 'POST'], '{taskId}'), assumed('pollExtractionV2'), {
    description: 'The same of its poll.',
    reason: notShown,
  }),
  consentRateLimit: withDefault(wholeNumber('requests a second', 1, 10_000), 10, {
    description: 'The throttle of each route about consents.',
    reason: 'Each request makes up to four calls to the provider.',
  }),
};

const access = {
  readers: withDefault(
    v.pipe(
      principalArns,
      // Lambda gives a function 4 KB of environment, and all other variables of get-extraction take less than 1 KB
      // (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html). A token is an ARN of any length.
      v.check(
        (arns) =>
          JSON.stringify(arns.map((arn) => (Token.isUnresolved(arn) ? 'x'.repeat(100) : arn))).length <=
          3_000,
        'must have at most 3,000 characters in all ARNs together, as Lambda keeps them in an environment of 4 KB: let further readers assume one role',
      ),
      values('comma-separated ARNs of IAM users or roles, without session names, some 50 at most'),
    ),
    '',
    {
      description: 'Principals that may read every extraction, beside the one that requested it.',
      reason:
        'They are principals of the stack’s account, as an HTTP API lets in no others. A reader from elsewhere assumes a role there.',
    },
  ),
  domainName: optional(
    textOf('a lower-case host name', /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/),
    {
      description:
        'A custom domain of the API. Needs `certificateArn`. A deployment that omits it deletes the domain, so keep both in the file of the stage.',
      reason:
        'The address of the webhook then survives a new stack, once DNS points to the output `CustomDomainTarget`.',
    },
  ),
  certificateArn: optional(
    textOf(
      'the ARN of a certificate in AWS Certificate Manager',
      /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    ),
    { description: 'The certificate of that domain. It must be in the stack’s region.' },
  ),
  disableDefaultEndpoint: withDefault(trueOrFalse, false, {
    description:
      'Whether the API answers only at `domainName`, and no longer at its `execute-api` address. Needs `domainName`.',
    reason: 'That address would lead around CloudFront and AWS WAF in front of the domain.',
  }),
  callersMayErase: withDefault(trueOrFalse, false, {
    description:
      'Whether the API has `POST /erasures` and `GET /erasures/{erasureId}`, with which a caller erases extractions of its own.',
    reason: 'A caller whose policy allows every route of the API may then erase, too.',
  }),
};

const capacity = {
  apiRateLimit: withDefault(wholeNumber('requests a second', 1, 10_000), 50, {
    description:
      'The throttle of each route that callers use, without the summary and those about consents. A burst may be twice as many.',
  }),
  webhookRateLimit: withDefault(wholeNumber('requests a second', 1, 10_000), 100, {
    description: 'The throttle of the webhook’s route. A burst may be twice as many.',
    reason:
      'The route is open to the internet, and a flood must not use up the account. The provider redelivers after a 429.',
  }),
  webhookReservedConcurrency: optional(wholeNumber('executions', 1, 1_000), {
    description: 'Lambda concurrency reserved for receive-webhook.',
    reason: 'It has no default, as new accounts have too little concurrency to reserve any.',
  }),
  requestReservedConcurrency: optional(wholeNumber('executions', 1, 10_000), {
    description:
      'The most executions of request-extraction at once. Requests above it are answered 503. At 0.2 s a request, 20 bear 100 a second.',
    reason: 'Callers would otherwise use up the account’s concurrency, which webhook and starts need.',
  }),
  startReservedConcurrency: optional(wholeNumber('executions', 1, 10_000), {
    description:
      'The most executions of start-task at once. It must bear the peak, starts a second × 0.5 s (1 s by consent).',
    reason:
      'A provider that hangs would otherwise use up the account’s concurrency. Lambda requires that 100 stay unreserved.',
  }),
  reconcileConcurrency: withDefault(wholeNumber('executions', 2, 1_000), 50, {
    description:
      'The most messages of the reconcile queue that are processed at once, and of the slow queue besides.',
    reason:
      'At 0.5 s a reconcile, 50 are 100 a second, eight million a day. AWS allows 2 to 1,000. A lower value protects the provider and the account.',
  }),
  reconcileReservedConcurrency: optional(wholeNumber('executions', 1, 10_000), {
    description:
      'The most executions of reconcile-extraction at once, for messages and for the state machine, which retries those that are throttled. Must be at least twice `reconcileConcurrency`.',
    reason: 'As for `startReservedConcurrency`.',
  }),
};

const topicArn = textOf(
  'the ARN of a standard SNS topic',
  /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
);

const operating = {
  alarmTopicArn: optional(topicArn, {
    description:
      'Every alarm notifies this topic when it starts and when it ends. It must be in the stack’s region. Without it, alarms only change state.',
  }),
  pageTopicArn: optional(topicArn, {
    description:
      'The topic of the alarms that page somebody (docs/operations.md, "Alarms"), in place of `alarmTopicArn`. The others can wait until morning.',
    reason: 'With one topic, the operator on call is woken by every alarm.',
  }),
  watchedEntities: withDefault(
    v.pipe(
      entitySlugs,
      v.maxLength(20, 'must name at most 20 entities'),
      // A filter pattern has 1,024 characters at most: 13 for each entity beside its name, and some 60 more.
      v.check(
        (entities) => entities.join('').length <= 600,
        'must have at most 600 characters in all names together',
      ),
      values('comma-separated entities, 20 at most'),
    ),
    '',
    {
      description:
        'The banks that have an alarm each, `bank-failing-<entity>`: at least half of their extractions failed.',
      reason:
        'An alarm with its two metrics costs $0.80 a month. All other banks are in the alarms over all of them.',
    },
  ),
  lineAlarmStarts: withDefault(wholeNumber('starts', 1, 10_000_000), 20_000, {
    description:
      'How many starts may wait in line for the provider’s rate for a quarter of an hour, until `starts-wait` is in alarm.',
    reason: 'At one start a second, the last of 20,000 waits for 5.6 hours, and `maxWaitSeconds` is 6.',
  }),
  runbookUrl: withDefault(
    v.pipe(
      text,
      v.check(
        (value) => value === repositoryRunbook || /^https:\/\/[^\s#]{1,300}$/.test(value),
        'must be an https address, without a fragment, of a copy of docs/operations.md',
      ),
      values('https address, without a fragment'),
    ),
    repositoryRunbook,
    {
      description: 'The address of your copy of docs/operations.md, to which each alarm’s description links.',
      reason: 'The operator on call reads the alarm, not the repository.',
    },
  ),
  publishEvents: withDefault(trueOrFalse, false, {
    description:
      'Whether outcomes are also published to an EventBridge bus. Switching it off deletes the bus, its function and its dead-letter queue.',
    reason: 'The stream has room for two consumers; the bus has room for more, and for other accounts.',
  }),
};

/**
 * Constants. No stage has a reason to change one; a stage for tests may, to wait for less (`mayChangeConstants`). The name of a
 * quantity ends in its unit.
 */
const constants = {
  /** The first interval between start attempts while the provider is busy or unreachable. It doubles to `startRetryEverySeconds`. */
  startRetryFirstSeconds: v.optional(seconds(1, 3_600), 2),
  /**
   * The first interval between polls, and between attempts to collect results. The intervals of the machine have full jitter, so that
   * the mean is half of it.
   */
  pollFirstSeconds: v.optional(seconds(1, 3_600), 5),
  /** The factor by which the interval between polls grows, to `pollEverySeconds`. */
  pollBackoff: v.optional(wholeNumber('times', 1, 10), 2),
  /** How long the machine runs beyond the deadline, to read the task once more and to collect: seven polls of two minutes. */
  machineSlackSeconds: v.optional(seconds(2, daySeconds), 900),
  /** The sweep is the guarantee behind webhook and machine. EventBridge allows one run a minute at most. */
  sweepEveryMinutes: v.optional(wholeNumber('minutes', 1, 60), 5),
  /** The timeout of a connect to the provider. A start whose connect failed did not reach the provider, so it is retried. */
  providerConnectTimeoutMs: v.optional(wholeNumber('milliseconds', 100, 30_000), 3_000),
  /**
   * The `expire` that Cosecha requests for a session token. 60 is the provider's own default, and the longest: credentials that are encrypted
   * under a session token are accepted for so long (`ciphertextSeconds`).
   */
  sessionMinutes: v.optional(wholeNumber('minutes', 1, 60), 60),
  /**
   * How long a function keeps a user's Task Token in memory. The provider's document does not show for how long one is valid, and an expired
   * one is replaced after its 401.
   */
  taskTokenMinutes: v.optional(wholeNumber('minutes', 1, 60), 5),
  /**
   * While starts are held: the pause before one of them is made, and its shortest length after that. A restart of a gateway takes seconds.
   * Each such start may cost one `UNCONFIRMED`.
   */
  breakerOpenSeconds: v.optional(seconds(1, 3_600), 30),
  /**
   * The longest such pause of one caller and entity, to which it doubles with each failed start, unless one was accepted within ten
   * minutes. An outage of 10 minutes then still ends within the start window of 15.
   */
  breakerMaxOpenSeconds: v.optional(seconds(1, 3_600), 300),
  /**
   * How often at most the signing keys are read again, after a delivery that no known key verifies. Deliveries are 30 s apart, so a
   * rotation loses none. It is not shorter, so that forged deliveries cost nothing.
   */
  signingKeyRefreshSeconds: v.optional(seconds(1, 29), 15),
  /**
   * How long an event that cannot be published to the bus is retried, while its shard of the stream waits. Then its position is kept in a
   * dead-letter queue. The stream keeps a record for 24 hours, so that 18 of them stay for the repair.
   */
  publishForSeconds: v.optional(seconds(60, 72_000), 21_600),
};

/** The chapters of docs/settings.md. */
export const settingChapters = {
  Required: required,
  Starting: starting,
  'Webhook and polling': polling,
  'Deadlines, collection and sweep': deadlines,
  Retention: retention,
  'The provider': provider,
  Consents: consents,
  'Access and domain': access,
  'Throttles and concurrency': capacity,
  Operating: operating,
};

const settings = {
  ...required,
  ...starting,
  ...polling,
  ...deadlines,
  ...retention,
  ...provider,
  ...consents,
  ...access,
  ...capacity,
  ...operating,
};

export const settingsSchema = v.object({ ...settings, ...constants });

export type SettingsSchema = typeof settingsSchema;

export const settingNames: readonly string[] = Object.keys(settings);

export const constantNames: readonly string[] = Object.keys(constants);

/** Whether a stage is for tests: on an emulator, or with a fake provider on AWS. */
export const mayChangeConstants = (stage: unknown): boolean =>
  typeof stage === 'string' && (isLocalStage(stage) || disposableStagePattern.test(stage));

/** CDK's own context keys contain a ":", "/" or "-". The settings, and nothing else, are plain words. */
export const mayBeSetting = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]*$/.test(name);

/** Examples of the required settings, for what needs their shape and no stage. */
export const exampleSettings = { stage: 'preview', providerBaseUrl: 'https://provider.example' } as const;
