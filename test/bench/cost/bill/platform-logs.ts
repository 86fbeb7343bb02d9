/** How a function logs, as the template has it. */
export type LogSettings = {
  readonly format: 'Text' | 'JSON';
  /** Of the platform's own lines, in the format JSON. */
  readonly systemLevel: 'DEBUG' | 'INFO' | 'WARN';
};

export type Invoked = {
  readonly billedMs: number;
  readonly memoryMB: number;
  readonly failed: boolean;
};

const requestId = '01a1fe07-9745-75b1-b891-0d0d5703db17';
const time = '2026-01-01T12:00:00.000Z';
/** Of some 90 MB that such functions use. */
const maxMemoryUsedMB = 90;

const textLines = ({ billedMs, memoryMB }: Invoked): readonly string[] => [
  `START RequestId: ${requestId} Version: $LATEST\n`,
  `END RequestId: ${requestId}\n`,
  `REPORT RequestId: ${requestId}\tDuration: ${(billedMs - 0.5).toFixed(2)} ms\tBilled Duration: ${billedMs} ms\t` +
    `Memory Size: ${memoryMB} MB\tMax Memory Used: ${maxMemoryUsedMB} MB\t\n`,
];

const levels = ['DEBUG', 'INFO', 'WARN'] as const;

type PlatformEvent = {
  readonly level: (typeof levels)[number];
  readonly type: string;
  readonly record: object;
};

/** Levels: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html ("event mapping"). */
const jsonEvents = ({ billedMs, memoryMB, failed }: Invoked): readonly PlatformEvent[] => {
  const status = failed ? 'error' : 'success';
  const durationMs = billedMs - 0.491;
  return [
    { level: 'INFO', type: 'platform.start', record: { requestId, version: '$LATEST' } },
    {
      level: failed ? 'WARN' : 'DEBUG',
      type: 'platform.runtimeDone',
      record: { requestId, status, metrics: { durationMs, producedBytes: 180 } },
    },
    {
      level: failed ? 'WARN' : 'INFO',
      type: 'platform.report',
      record: {
        requestId,
        metrics: { durationMs, billedDurationMs: billedMs, memorySizeMB: memoryMB, maxMemoryUsedMB },
        status,
      },
    },
  ];
};

/**
 * What Lambda itself writes into a function's log about one warm invocation, in bytes. Text: START, END and REPORT,
 * always (https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html). JSON: what the level lets through
 * (https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html).
 */
export const platformLogBytes = ({ format, systemLevel }: LogSettings, invoked: Invoked): number => {
  const lines =
    format === 'Text'
      ? textLines(invoked)
      : jsonEvents(invoked)
          .filter(({ level }) => levels.indexOf(level) >= levels.indexOf(systemLevel))
          .map(({ type, record }) => JSON.stringify({ time, type, record }));
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
};

/**
 * What the Node runtime writes of an error that a handler throws: a line of time, request id, level and an object that
 * quotes name and message (the runtime's `Errors.js`), of the commonest of ours, and the frames of its stack, if any.
 */
export const thrownErrorBytes = (failed: boolean, stackBytes: number): number => {
  const error = { errorType: 'NotYet', errorMessage: 'still-running', stack: ['NotYet: still-running'] };
  const line = `${time}\t${requestId}\tERROR\tInvoke Error \t${JSON.stringify(error)}\n`;
  return failed ? Buffer.byteLength(line) + stackBytes : 0;
};
