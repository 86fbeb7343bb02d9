// Generated from config.ts by `npm run docs:settings`; a test fails while the two differ.

/** The settings of a deployment, as in docs/settings.md. One that is left out has its default. */
export type CosechaSettings = {
  /**
   * Names the deployment. The stack is `Cosecha-<stage>`, and its secrets, alarms and state machine carry the same name.
   * The stages `local` and `local-…` are for emulators: they alone may use plain http, and their tables and bucket are deleted with them.
   * 1 to 17 of `a-z`, `0-9` and `-`, starting with a letter.
   */
  readonly stage: string;
  /**
   * The base address of the provider’s API. A path in it is kept.
   * API keys and credentials travel there, so it must be https except in the stages `local` and `local-…`.
   * Absolute address, without user, query or fragment.
   */
  readonly providerBaseUrl: string;
  /**
   * How long after the request a start may be attempted. Afterwards the extraction ends `NOT_STARTED`.
   * Seconds, 2 to 86400.
   * Default: 900.
   */
  readonly startWindowSeconds?: number | undefined;
  /**
   * The timeout of the function start-task. A start attempt older than this is stale.
   * It has to hold 4 provider calls of `providerTimeoutMs` each and 3 s of Cosecha’s own work.
   * Seconds, 4 to 900.
   * Default: 90.
   */
  readonly startTimeoutSeconds?: number | undefined;
  /**
   * The first interval between start attempts while the provider is busy or unreachable.
   * Seconds, 1 to 3600.
   * Default: 2.
   */
  readonly startRetryFirstSeconds?: number | undefined;
  /**
   * The longest interval between start attempts, to which the first one doubles.
   * Seconds, 1 to 3600.
   * Default: 60.
   */
  readonly startRetryEverySeconds?: number | undefined;
  /**
   * How long the state machine waits for the webhook before it polls the provider.
   * A task takes a minute or two.
   * Seconds, 2 to 86400.
   * Default: 600.
   */
  readonly webhookWaitSeconds?: number | undefined;
  /**
   * The first interval between polls, and between attempts to collect results.
   * The intervals of the state machine have full jitter, so that its mean interval is half of it.
   * Seconds, 1 to 3600.
   * Default: 5.
   */
  readonly pollFirstSeconds?: number | undefined;
  /**
   * The longest interval between polls.
   * Seconds, 1 to 3600.
   * Default: 120.
   */
  readonly pollEverySeconds?: number | undefined;
  /**
   * The factor by which the interval between polls grows.
   * Times, 1 to 10.
   * Default: 2.
   */
  readonly pollBackoff?: number | undefined;
  /**
   * How long after the request an extraction may run before it ends `TIMED_OUT`.
   * Deadline and grace together stay below the 30 days that a row of the table Tasks is kept.
   * Seconds, 5 to 1209600.
   * Default: 7200.
   */
  readonly deadlineSeconds?: number | undefined;
  /**
   * How long after `TIMED_OUT` the provider is still read. A final status found then corrects the outcome.
   * Seconds, 1 to 1209600.
   * Default: 86400.
   */
  readonly graceSeconds?: number | undefined;
  /**
   * How long the state machine runs beyond the deadline, to read the task once more and to collect.
   * Seconds, 2 to 86400.
   * Default: 900.
   */
  readonly machineSlackSeconds?: number | undefined;
  /**
   * How long after the outcome results are requested from the provider. Afterwards `collectionError` is recorded and the record closes.
   * Seconds, 1 to 2592000.
   * Default: 86400.
   */
  readonly collectForSeconds?: number | undefined;
  /**
   * How often the sweep sends everything that is due to the reconcile queue.
   * The sweep is the guarantee behind webhook and state machine. EventBridge allows one run a minute at most.
   * Minutes, 1 to 60.
   * Default: 5.
   */
  readonly sweepEveryMinutes?: number | undefined;
  /**
   * How long a closed record is kept.
   * Step Functions keeps an execution’s name for 90 days after its end. If the record went earlier, a repeated idempotency key would start nothing.
   * Days, 91 to 3653.
   * Default: 120.
   */
  readonly recordRetentionDays?: number | undefined;
  /**
   * How long results stay in the bucket.
   * Days, 1 to 3653.
   * Default: 30.
   */
  readonly resultsRetentionDays?: number | undefined;
  /**
   * The largest results that are stored. Larger ones end with `results-too-large`.
   * reconcile-extraction holds them in memory; its memory size follows this setting.
   * Bytes, 1024 to 52428800.
   * Default: 20971520.
   */
  readonly resultsMaxBytes?: number | undefined;
  /**
   * How long logs are kept.
   * CloudWatch Logs accepts only these periods.
   * Days, one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653.
   * Default: 30.
   */
  readonly logRetentionDays?: number | undefined;
  /**
   * The timeout of a connect to the provider.
   * A start whose connect failed did not reach the provider, so it is retried.
   * Milliseconds, 100 to 30000.
   * Default: 3000.
   */
  readonly providerConnectTimeoutMs?: number | undefined;
  /**
   * The timeout of a whole call to the provider.
   * A start call that exceeds it is `UNCONFIRMED` and never repeated, so a long timeout is safer than a short one.
   * Milliseconds, 200 to 60000.
   * Default: 20000.
   */
  readonly providerTimeoutMs?: number | undefined;
  /**
   * At which count the breaker of starts or of reads opens. It counts 1 more for each extraction that begins to fail, and 1 less for each success, in all processes together. Failed connects, timeouts, resets and 5xx count.
   * Each such start call may end `UNCONFIRMED`. A steady share of failures does not open it: at one failed start in four, the count reaches 5 once in some 8 minutes of one start a second, and the next success after 30 s closes it.
   * Extractions, 1 to 1000.
   * Default: 5.
   */
  readonly breakerFailures?: number | undefined;
  /**
   * When a start call that is still under way counts as failed. Its success takes that back.
   * Otherwise a start that hangs counts after `providerTimeoutMs` (20 s), and all starts of that time are `UNCONFIRMED`.
   * Seconds, 1 to 60.
   * Default: 5.
   */
  readonly breakerSlowCallSeconds?: number | undefined;
  /**
   * How long an open breaker waits before its first probe.
   * A restart of a gateway takes seconds. Each failed probe may cost one `UNCONFIRMED`.
   * Seconds, 1 to 3600.
   * Default: 30.
   */
  readonly breakerOpenSeconds?: number | undefined;
  /**
   * The longest wait between two probes of a group: one caller at one bank. `breakerOpenSeconds` doubles to it once the calls of two probes have failed. A 503 with `Retry-After` lengthens a wait to this at most.
   * Within the start window of 15 minutes there are probes after 0.5, 1, 2, 4, 8 and 13 minutes, so that an outage of 10 minutes still ends within it.
   * Seconds, 1 to 3600.
   * Default: 300.
   */
  readonly breakerMaxOpenSeconds?: number | undefined;
  /**
   * The `expire` that Cosecha requests for the provider’s session token.
   * 60 is the provider’s own default.
   * Minutes, 1 to 1440.
   * Default: 60.
   */
  readonly sessionMinutes?: number | undefined;
  /**
   * Whether raw credentials are sent to the provider encrypted under the session token, inside TLS.
   * The provider must first activate temporary encryption for the client.
   * `true` or `false`.
   * Default: false.
   */
  readonly encryptRawCredentials?: boolean | undefined;
  /**
   * How often at most the signing keys are read again, after a delivery that no known key verifies.
   * Deliveries are 30 s apart, so a rotation loses none. It is not shorter, so that forged deliveries cost nothing.
   * Seconds, 1 to 29.
   * Default: 15.
   */
  readonly signingKeyRefreshSeconds?: number | undefined;
  /**
   * This stack’s client identifier at the provider, for which Task Tokens are made. Without it, routes about consents answer 503.
   * UUID, supplied by the provider.
   */
  readonly providerClientId?: string | undefined;
  /**
   * The widget in which users authorize. Without it, no consent session can be opened. Needs `providerClientId`.
   * Text, supplied by the provider; case-sensitive.
   */
  readonly widgetConfigId?: string | undefined;
  /**
   * How long a function keeps a user’s Task Token in memory.
   * The provider’s API document does not show how long a Task Token is valid. An expired one is replaced after its 401.
   * Minutes, 1 to 60.
   * Default: 5.
   */
  readonly taskTokenMinutes?: number | undefined;
  /**
   * The throttle of each route about consents.
   * Each request makes up to four calls to the provider.
   * Requests a second, 1 to 10000.
   * Default: 10.
   */
  readonly consentRateLimit?: number | undefined;
  /**
   * The burst of the same throttle.
   * Requests, 1 to 5000.
   * Default: 20.
   */
  readonly consentBurstLimit?: number | undefined;
  /**
   * Principals that may read every extraction, beside the one that requested it.
   * They are principals of the stack’s account, as an HTTP API lets in no others. A reader from elsewhere assumes a role there.
   * Comma-separated ARNs of IAM users or roles, without session names.
   */
  readonly readers?: readonly string[] | undefined;
  /**
   * A custom domain of the API. Needs `certificateArn`. A deployment that omits it deletes the domain, so keep both in `cdk.json`.
   * The webhook URL that is registered at the provider then survives a new stack, once DNS points to the new target (output `CustomDomainTarget`).
   * Lower-case host name.
   */
  readonly domainName?: string | undefined;
  /**
   * The certificate of that domain. It must be in the stack’s region.
   * ARN in AWS Certificate Manager.
   */
  readonly certificateArn?: string | undefined;
  /**
   * Whether the API answers only at `domainName`, and no longer at its `execute-api` address. Needs `domainName`.
   * That address would lead around CloudFront and AWS WAF in front of the domain.
   * `true` or `false`.
   * Default: false.
   */
  readonly disableDefaultEndpoint?: boolean | undefined;
  /**
   * The throttle of each route that callers use, without those about consents.
   * Requests a second, 1 to 10000.
   * Default: 50.
   */
  readonly apiRateLimit?: number | undefined;
  /**
   * The burst of the same throttle.
   * Requests, 1 to 5000.
   * Default: 100.
   */
  readonly apiBurstLimit?: number | undefined;
  /**
   * The throttle of the webhook’s route.
   * The route is open to the internet, and a flood must not use up the account. The provider redelivers after a 429.
   * Requests a second, 1 to 10000.
   * Default: 100.
   */
  readonly webhookRateLimit?: number | undefined;
  /**
   * The burst of the same throttle.
   * Requests, 1 to 5000.
   * Default: 200.
   */
  readonly webhookBurstLimit?: number | undefined;
  /**
   * Lambda concurrency reserved for receive-webhook.
   * It has no default, as new accounts have too little concurrency to reserve any.
   * Executions, 1 to 1000.
   */
  readonly webhookReservedConcurrency?: number | undefined;
  /**
   * The most executions of start-task at once. It must bear the peak, starts a second × 0.5 s (1 s by consent): a start throttled for the whole start window ends `NOT_STARTED`.
   * A provider that hangs would otherwise use up the account’s concurrency. Lambda requires that 100 stay unreserved.
   * Executions, 1 to 10000.
   */
  readonly startReservedConcurrency?: number | undefined;
  /**
   * The most messages of the reconcile queue that are processed at once.
   * At 0.5 s a reconcile, 50 are 100 a second, eight million a day. AWS allows 2 to 1,000. A lower value protects the provider and the account.
   * Executions, 2 to 1000.
   * Default: 50.
   */
  readonly reconcileConcurrency?: number | undefined;
  /**
   * The most executions of reconcile-extraction at once, for messages and for the state machine, which retries those that are throttled. Must be at least `reconcileConcurrency`.
   * As for `startReservedConcurrency`.
   * Executions, 1 to 10000.
   */
  readonly reconcileReservedConcurrency?: number | undefined;
  /**
   * Every alarm notifies this topic when it starts and when it ends. It must be in the stack’s region. Without it, alarms only change state.
   * ARN of a standard SNS topic.
   */
  readonly alarmTopicArn?: string | undefined;
  /**
   * The address of your copy of docs/operations.md, to which each alarm’s description links.
   * The operator on call reads the alarm, not the repository.
   * Https address, without a fragment.
   * Default: docs/operations.md.
   */
  readonly runbookUrl?: string | undefined;
  /**
   * Whether the records of the stream are also put on an EventBridge bus. Switching it off deletes the bus, the pipe, its log and its dead-letter queue.
   * The stream has room for two consumers; the bus has room for more.
   * `true` or `false`.
   * Default: false.
   */
  readonly fanOutToEventBus?: boolean | undefined;
};
