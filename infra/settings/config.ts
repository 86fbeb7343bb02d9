import { Token } from 'aws-cdk-lib';
import { closest, distance } from 'fastest-levenshtein';
import * as v from 'valibot';
import { isLocalStage } from '../../lib/aws/stage.ts';
import { consentReadMsOf } from '../../lib/extraction/start/start-call.ts';
import { machineSeconds, worstCaseHistory } from '../extraction-machine-definition.ts';
import { ConfigError } from './config-error.ts';
import {
  constantNames,
  exampleSettings,
  maxExecutionSeconds,
  mayBeSetting,
  mayChangeConstants,
  ownWorkSeconds,
  providerCallsPerStart,
  type SettingsSchema,
  settingNames,
  settingsSchema,
} from './settings.ts';

/**
 * Step Functions ends an execution at 25,000 history events. A redrive continues the same history, and an operator should be able to
 * redrive once. Waits in line are counted over both: 2 × 10,000 + 400 (`maxEntries`) × 12 (`eventsPerWait`) = 24,800.
 */
export const maxHistoryEvents = 10_000;

/** The last three digits of a callback attempt are its retries, so they have to stay below 1000. */
const maxStartRetries = 999;

/** Every setting, validated. The name of a quantity ends in its unit. */
export type Config = Readonly<v.InferOutput<SettingsSchema>> & {
  /** Whether a fake provider takes the place of the provider. `CosechaStack` sets it, and no setting does. */
  readonly hasFakeProvider?: true;
  /** Whether the stage, of any name, is for an emulator that needs no adapted template. `npm run accept` sets it, and no setting does. */
  readonly onCompleteEmulator?: true;
};

/**
 * Of dispatch-starts. One releases, and the rule and starts that found none invoke others, which end at once. More of them would only
 * read the same item.
 */
export const dispatcherConcurrency = 3;

/** What the functions of a deployment reserve of the account's concurrency, in all. */
export const reservedConcurrency = (config: Config): number =>
  [
    dispatcherConcurrency,
    config.requestReservedConcurrency,
    config.startReservedConcurrency,
    config.webhookReservedConcurrency,
    config.reconcileReservedConcurrency,
  ].reduce<number>((sum, one) => sum + (one ?? 0), 0);

/**
 * Reads the settings from the CDK context (`app.node.getAllContext()`), validates them, adds defaults and freezes them.
 * @throws {ConfigError} with one sentence for each problem
 */
export const readConfig = (context: Readonly<Record<string, unknown>>): Config => {
  const isKnown = (name: string) => Object.hasOwn(settingsSchema.entries, name);
  const given = Object.fromEntries(Object.entries(context).filter(([name]) => isKnown(name)));
  // With the two required names, so that a missing one is reported as required.
  const parsed = v.safeParse(settingsSchema, {
    stage: undefined,
    providerBaseUrl: undefined,
    ...given,
  });
  const wrong = (parsed.issues ?? []).map((issue) => ({
    name: String(issue.path?.[0]?.key),
    message: issue.message,
  }));
  const problems = [
    ...unknownSettings(context),
    ...wrong.map(({ name, message }) => `Setting ${name} ${message}.`),
    ...(parsed.success
      ? contradictions(parsed.output)
      : contradictionsWithout(
          wrong.map(({ name }) => name),
          given,
        )),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return Object.freeze(parsed.output);
};

/** Contradictions of the other settings, so that one round reports them too. A sentence names each setting on which it depends. */
const contradictionsWithout = (
  wrong: readonly string[],
  given: Readonly<Record<string, unknown>>,
): readonly string[] => {
  const others = Object.entries(given).filter(([name]) => !wrong.includes(name));
  const parsed = v.safeParse(settingsSchema, { ...exampleSettings, ...Object.fromEntries(others) });
  if (!parsed.success) return [];
  const isNamed = (sentence: string) => wrong.some((name) => new RegExp(`\\b${name}\\b`).test(sentence));
  return contradictions(parsed.output).filter((sentence) => !isNamed(sentence));
};

const isConstant = 'it is a constant (infra/settings/settings.ts has its reason). Remove it.';
const isDerived = 'a burst may be twice the rate limit. Remove it.';

/** Settings of earlier versions, and why they are gone. */
const removedSettings: Readonly<Record<string, string>> = {
  apiBurstLimit: isDerived,
  webhookBurstLimit: isDerived,
  consentBurstLimit: isDerived,
  limitStarts: 'every start has a permit or a place in line, and without a rate all may go. Remove it.',
};

/** Refuses unknown names, as a misspelt setting would otherwise be ignored. */
const unknownSettings = (context: Readonly<Record<string, unknown>>): string[] => {
  const mayChange = mayChangeConstants(context.stage);
  return Object.keys(context)
    .filter((name) => mayBeSetting(name) && !settingNames.includes(name))
    .flatMap((name) => {
      if (constantNames.includes(name)) return mayChange ? [] : [`Setting ${name} is gone: ${isConstant}`];
      return Object.hasOwn(removedSettings, name)
        ? `Setting ${name} is gone: ${removedSettings[name]}`
        : `Setting ${name} is unknown.${suggestion(name)} docs/settings.md lists the settings.`;
    });
};

/** The setting that was probably meant: one that continues the name, as a unit does, or that differs in few letters. */
const suggestion = (name: string): string => {
  const like = (setting: string) => setting.toLowerCase().startsWith(name.toLowerCase());
  const meant = settingNames.find(like) ?? closest(name, settingNames);
  return like(meant) || distance(name, meant) <= 3 ? ` Did you mean ${meant}?` : '';
};

/** The settings that must be in the stack's region, and the region that each names. */
export const regionalArns = ({
  certificateArn,
  alarmTopicArn,
  pageTopicArn,
}: Config): (readonly [string, string])[] =>
  Object.entries({ certificateArn, alarmTopicArn, pageTopicArn }).flatMap(([setting, arn]) =>
    arn === undefined || Token.isUnresolved(arn) ? [] : [[setting, arn.split(':')[3] ?? ''] as const],
  );

type Rule = readonly [contradicts: boolean, sentence: string];

/** The rules for settings that name something outside of the stack. */
const contradictoryAddresses = (config: Config): readonly Rule[] => [
  [
    config.entities.length > 0 && config.watchedEntities.some((entity) => !config.entities.includes(entity)),
    'Setting watchedEntities must only have entities of the setting entities: no other is requested.',
  ],
  [
    config.widgetConfigId !== undefined && config.providerClientId === undefined,
    'Setting widgetConfigId needs providerClientId: a consent session is opened with both.',
  ],
  [
    (config.domainName === undefined) !== (config.certificateArn === undefined),
    'Settings domainName and certificateArn need each other: set both or neither.',
  ],
  [
    config.disableDefaultEndpoint && config.domainName === undefined,
    'Setting disableDefaultEndpoint needs domainName: without both, the API has no address.',
  ],
  [
    new Set(regionalArns(config).map(([, region]) => region)).size > 1,
    'Settings certificateArn, alarmTopicArn and pageTopicArn must be of one region, that of the stack.',
  ],
];

const contradictoryCapacities = ({
  reconcileReservedConcurrency: reserved,
  reconcileConcurrency,
  apiRateLimit,
  webhookRateLimit,
  providerSendsWebhooks,
}: Config): readonly Rule[] => [
  [
    providerSendsWebhooks && webhookRateLimit < apiRateLimit,
    'Setting webhookRateLimit must be at least apiRateLimit, unless providerSendsWebhooks is false: each request that is accepted brings a webhook, and those above the throttle are answered 429 until the provider gives up.',
  ],
  [
    reserved !== undefined && reserved < 2 * reconcileConcurrency,
    'Setting reconcileReservedConcurrency must be at least twice reconcileConcurrency, as two queues have so many consumers each: a throttled message counts as a failed one.',
  ],
];

const contradictoryLifetimes = (config: Config): readonly Rule[] => [
  [
    machineSeconds(config) > maxExecutionSeconds,
    'Settings maxWaitSeconds, startWindowSeconds and deadlineSeconds, and 15 minutes, must be at most a year together: Step Functions ends an execution then.',
  ],
  [
    config.maxWaitSeconds > config.recordRetentionDays * 86_400,
    'Setting maxWaitSeconds must not exceed recordRetentionDays: what is sealed of a request that waits would be kept longer than an outcome.',
  ],
  [
    config.deadlineSeconds + config.graceSeconds + config.refusedCredentialsDays * 86_400 > 30 * 86_400,
    'Settings deadlineSeconds, graceSeconds and refusedCredentialsDays must be at most 30 days together: an item of Tasks is kept so long, and without it an erasure could not find the mark.',
  ],
];

/** A sentence for each contradiction between settings that are valid alone. */
const contradictions = (config: Config): string[] => {
  const local = isLocalStage(config.stage);
  const startNeedsSeconds =
    (providerCallsPerStart * config.providerTimeoutMs) / 1_000 +
    ownWorkSeconds +
    consentReadMsOf(config.providerTimeoutMs) / 1_000;
  const history = worstCaseHistory(config);
  const rules: readonly Rule[] = [
    [
      !local && !Token.isUnresolved(config.providerBaseUrl) && !config.providerBaseUrl.startsWith('https://'),
      `Setting providerBaseUrl must be an https address: only a stage for an emulator, local or local-…, may send credentials in the clear.`,
    ],
    [
      config.providerConnectTimeoutMs > config.providerTimeoutMs,
      `Setting providerTimeoutMs must be at least ${config.providerConnectTimeoutMs}, the time for the connect, which it contains.`,
    ],
    [
      startNeedsSeconds > config.startTimeoutSeconds,
      `Setting startTimeoutSeconds (${config.startTimeoutSeconds}) is too short: login, start, login again and start again take up to ${providerCallsPerStart} × providerTimeoutMs (${config.providerTimeoutMs}), ${consentReadMsOf(config.providerTimeoutMs) / 1_000} s for the read of a consent and ${ownWorkSeconds} s of Cosecha's own work, ${startNeedsSeconds} s.`,
    ],
    [
      config.webhookWaitSeconds <= config.startTimeoutSeconds,
      'Setting webhookWaitSeconds must exceed startTimeoutSeconds: otherwise the machine abandons a start that is still in progress.',
    ],
    [
      config.deadlineSeconds < config.startWindowSeconds + config.webhookWaitSeconds,
      'Setting deadlineSeconds must be at least startWindowSeconds + webhookWaitSeconds: otherwise an extraction that starts late in its window ends TIMED_OUT before its webhook is due.',
    ],
    [
      config.pollFirstSeconds > config.pollEverySeconds,
      `Setting pollEverySeconds must be at least ${config.pollFirstSeconds}, the first interval between polls, which grows to it.`,
    ],
    [
      config.startRetryFirstSeconds > config.startRetryEverySeconds,
      `Setting startRetryEverySeconds must be at least ${config.startRetryFirstSeconds}, the first interval between start attempts, which grows to it.`,
    ],
    [
      config.machineSlackSeconds <= config.pollEverySeconds,
      `Setting pollEverySeconds must be below ${config.machineSlackSeconds}, for how long the machine runs beyond the deadline: otherwise it may end before the poll after it.`,
    ],
    [
      config.resultsRetentionDays > config.recordRetentionDays,
      'Setting resultsRetentionDays must not exceed recordRetentionDays: results without their record cannot be found.',
    ],
    [
      history.startRetries > maxStartRetries,
      `Setting startRetryEverySeconds is too short for startWindowSeconds: it allows up to ${history.startRetries} start attempts, more than ${maxStartRetries}.`,
    ],
    [
      history.events > maxHistoryEvents,
      `Setting pollEverySeconds (or startRetryEverySeconds) is too short for deadlineSeconds: an execution could write ${history.events} history events, more than ${maxHistoryEvents} (Step Functions ends it at 25,000).`,
    ],
    ...contradictoryLifetimes(config),
    ...contradictoryCapacities(config),
    ...contradictoryAddresses(config),
  ];
  return rules.flatMap(([contradicts, sentence]) => (contradicts ? [sentence] : []));
};
