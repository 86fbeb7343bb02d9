import { script } from '@bomb.sh/tab';
import completion from '@bomb.sh/tab/commander';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { advices } from '../../lib/extraction/advice.ts';
import { openStatuses, ownOutcomes, terminalStatuses } from '../../lib/extraction/record.ts';
import { isIdempotencyKey } from '../../lib/idempotency-key.ts';
import { isTaskId } from '../../lib/provider/tasks/task-id.ts';
import { findExtractionId, mayBeExtractionId } from './aws/find-extraction-id.ts';
import { logNames } from './aws/log-names.ts';
import type { CommandContext } from './commands/command-context.ts';
import { parseDuration, parseSince, type Since } from './terminal/parse-time.ts';

export type GlobalOptions = {
  readonly stage?: string;
  readonly stack?: string;
  readonly json?: true;
  readonly region?: string;
  readonly profile?: string;
};

type Run = (work: (context: CommandContext) => Promise<number>) => Promise<void>;

/** It takes as many of commander's arguments and options as it declares, and then the context. */
type Work = (...args: never[]) => Promise<number>;

/** An argument, or the options, with the whole id of each extraction that is named by its beginning. */
const withWholeIds =
  (command: unknown, { connect }: CommandContext) =>
  async (given: unknown, index: number): Promise<unknown> => {
    const whole = async (id: string): Promise<string> => {
      const { knownExtractionIds } = await import('./aws/recent-extractions-reader.ts');
      return findExtractionId(id, async () => knownExtractionIds(await connect()));
    };
    const isId = (command as Command).registeredArguments[index]?.name() === 'extractionId';
    if (typeof given === 'string') return isId ? whole(given) : given;
    if (typeof given !== 'object' || given === null) return given;
    const entries = await Promise.all(
      Object.entries(given).map(async ([name, value]) => [
        name,
        ['extraction', 'replay'].includes(name) && typeof value === 'string' ? await whole(value) : value,
      ]),
    );
    return Object.fromEntries(entries);
  };

/** Each command is imported when it runs: importing all AWS clients at once takes a second. */
type RunImported = (load: () => Promise<Work>) => (...args: readonly unknown[]) => Promise<void>;

const statuses = [...openStatuses, ...terminalStatuses, ...ownOutcomes];

/** Parses an argument. One that `parse` does not accept is refused with this sentence. */
const parsed =
  <Value>(parse: (text: string) => Value | undefined, refusal: string) =>
  (text: string): Value => {
    const value = parse(text);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(refusal);
  };

const when = (accepts: (text: string) => boolean) => (text: string) => (accepts(text) ? text : undefined);

const extractionId = parsed(
  when(mayBeExtractionId),
  'An extractionId is a UUID, or at least its first eight digits.',
);
const taskId = parsed(when(isTaskId), 'A taskId has 1 to 100 characters.');
const idempotencyKey = parsed(
  when(isIdempotencyKey),
  'An idempotency key has 1 to 255 printable ASCII characters.',
);
const duration = parsed(parseDuration, 'A duration is a number with s, min, h or d, such as 90s or 2h.');
const since = parsed(
  parseSince,
  'Name a duration before now with s, min, h or d, such as 10min or 2h, or an ISO 8601 time, such as 2026-11-22T08:00:00Z.',
);
const httpUrl = parsed(
  when((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')),
  'It is not an http or https address.',
);
const pauseReason = parsed(
  when((text) => text.trim() !== '' && text.length <= 200),
  'A reason has 1 to 200 characters.',
);
const count = parsed(
  (text) => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined),
  'It is a number from 1 to 999999.',
);
const startsPerSecond = parsed(
  (text) =>
    /^\d{1,3}(\.\d{1,3})?$/.test(text) && Number(text) > 0 && Number(text) <= 200 ? Number(text) : undefined,
  'It is a number of starts a second, above 0 and at most 200, with three decimals at most.',
);
const port = parsed(
  (text) => (/^\d{1,5}$/.test(text) && Number(text) < 65_536 ? Number(text) : undefined),
  'A port is a number from 0 to 65535.',
);

/** What was assumed of the options. */
const notesOf = (args: readonly unknown[]): readonly string[] =>
  args
    .filter((arg) => typeof arg === 'object' && arg !== null)
    .flatMap((options) => Object.values(options))
    .flatMap((value) => (typeof value === 'function' ? ((value as Since).note ?? []) : []));

/** `--since`, with a duration that it has by default. */
const sinceOption = (what: string, byDefault: string): Option =>
  new Option('--since <time>', what).argParser(since).default(parseSince(byDefault), byDefault);

class CosechaCommand extends Command {
  declare readonly commands: readonly CosechaCommand[];

  override createCommand(name?: string): CosechaCommand {
    return new CosechaCommand(name);
  }

  /** What `--help` prints at its end: command lines that one can copy. A test parses each. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText(
      'after',
      ['', 'Examples:', ...lines.map((line) => `  cosecha ${line}`)].join('\n'),
    );
  }
}

/** What `FindOptions` has (aws/find-extractions.ts). */
const finding = (command: CosechaCommand): CosechaCommand =>
  command
    .addOption(
      new Option(
        '--advice <advice...>',
        'only those with one of these; todo: that leave something to do',
      ).choices(['todo', ...Object.keys(advices)]),
    )
    .addOption(new Option('--status <status...>', 'only those with one of these').choices(statuses))
    .option('--entity <slug>', 'only those of this entity, or of this product by consent')
    .option('--caller <name>', 'only those of this caller, by its ARN or the name of its role')
    .option('--reference <text>', "only those with this reference of the caller's, closed ones too")
    .option('--batch <text>', "only those of this batch of the caller's, closed ones too")
    .option(
      '--since <time>',
      'only those that ended, or were requested, within 2h, or since 2026-11-22',
      since,
    )
    .option('--until <time>', 'only those that did so before 1h ago, or before 2026-11-23', since);

const id = '1f60ead9-ee02-8cff-a129-14ed7432b4ed';

const appended = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const commands: readonly ((command: CosechaCommand['command'], run: RunImported) => unknown)[] = [
  (command, run) =>
    command('start')
      .description('request an extraction, or with --batch all of a file')
      .argument(
        '[requests.jsonl]',
        'with --batch: a file with one request as JSON a line; - is standard input',
      )
      .option('--file <path>', 'the whole request as JSON; - is standard input')
      .option('--entity <slug>', 'by credentials: the entity')
      .option('--action <id>', 'by credentials: an action without parameters; may be repeated', appended)
      .option('--movement-from <date>', 'by credentials: the action movement, from this day')
      .option('--movement-to <date>', 'by credentials: the action movement, to this day')
      .option('--credentials <path>', 'by credentials: the credentials as JSON (default: -, standard input)')
      .option('--consent <consentId>', 'by consent: the consent')
      .option('--product <product>', 'by consent: the product')
      .option('--variant <v1|v2>', "by consent: the version of the provider's interface")
      .option('--target <path>', "by consent: the user's national id (default: -, standard input)")
      .option('--reference <text>', "the caller's own reference")
      .option(
        '--idempotency-key <key>',
        'all requests with one key are one extraction (default: a random key)',
        idempotencyKey,
      )
      .option('--batch <text>', "the caller's own name for all requests of the file")
      .option('--watch', 'continue as watch does; with --batch, until each has an outcome')
      .examples(
        '--stage local start --entity demo-bank --action product-balance --watch < credentials.json',
        '--stage local start --file request.json --idempotency-key order-7',
        '--stage local start --batch morning-2026-11-27 requests.jsonl --watch',
      )
      .action(run(async () => (await import('./commands/start.ts')).start)),
  (command, run) =>
    finding(command('start-again'))
      .description('request again what a filter finds: by consent as a batch; of others, write whom to ask')
      .usage('--as <batch> [options]')
      .requiredOption('--as <batch>', 'the name of the new batch (required)')
      .option(
        '--targets <path>',
        'a JSON object with the national id for each consentId; - is standard input',
        '-',
      )
      .option('--ask <file>', 'write those who have to act first to this new file, as list --csv does')
      .option('--dry-run', 'only report what would be done')
      .option('--yes', 'skip the prompt')
      .examples(
        '--stage prod start-again --batch morning --as morning-again --dry-run',
        '--stage prod start-again --advice request-again ask-user --since 24h --as again --ask ask.csv --targets ids.json',
      )
      .action(run(async () => (await import('./commands/start-again.ts')).startAgain)),
  (command, run) =>
    command('get')
      .description('print the record of an extraction')
      .argument('<extractionId>', 'the extraction', extractionId)
      .option('--results <file>', 'store its results in this new file instead; - is standard output')
      .examples(`--stage prod get ${id}`, `--stage prod get ${id} --results results.json`)
      .action(run(async () => (await import('./commands/get.ts')).get)),
  (command, run) =>
    command('watch')
      .description('print each change of an extraction until it is closed')
      .argument('<extractionId>', 'the extraction', extractionId)
      .addOption(
        new Option('--until <settled|closed>', 'until it has an outcome, or until it is closed')
          .choices(['settled', 'closed'])
          .default(undefined, 'closed'),
      )
      .option('--timeout <duration>', 'stop after this time, such as 90s or 10min', duration)
      .examples(`--stage prod watch ${id} --until settled --timeout 10min`)
      .action(run(async () => (await import('./commands/watch.ts')).watch)),
  (command, run) =>
    command('explain')
      .description('print what an extraction waits for or why it ended, and all that happened to it')
      .argument('<extractionId>', 'the extraction', extractionId)
      .examples(`--stage prod explain ${id}`, `--stage prod explain ${id} --json`)
      .action(run(async () => (await import('./commands/explain.ts')).explain)),
  (command, run) =>
    command('listen')
      .description(
        'send the events of the stream to a handler on this machine, and continue after the last one',
      )
      .option('--forward-to <url>', 'POST each event, signed, until it is answered with 2xx', httpUrl)
      .option('--print', 'print each event as JSON')
      .option('--raw', 'the event that Lambda passes to a consumer: `{"Records": [...]}`')
      .option('--all', 'every change, and not only those of extractions with an outcome')
      .option('--since <time>', 'start there: 2h before now, for example, or 2026-11-22T08:00:00Z', since)
      .option('--replay <extractionId>', 'only what the stream still has of this one, then end', extractionId)
      .option('--state <file>', 'where it stores its position in the stream (default: a file for each stage)')
      .examples(
        '--stage local listen --forward-to http://localhost:3000/hook',
        '--stage prod listen --print --since 2h',
        '--stage local listen --raw --forward-to http://localhost:9000/2015-03-31/functions/function/invocations',
        `--stage local listen --forward-to http://localhost:3000/hook --replay ${id}`,
      )
      .action(run(async () => (await import('./commands/listen.ts')).listen)),
  (command, run) =>
    finding(command('list'))
      .description('list extractions: open ones, or those with an advice, a status or a name')
      .addOption(
        new Option('--open', 'open ones (the default without an advice, an outcome or a name)').conflicts(
          'due',
        ),
      )
      .option('--due', 'only those that are due')
      .option('--limit <n>', 'at most so many of them', count)
      .option('--csv', 'as a table for a spreadsheet, with a text for the user in English and Spanish')
      .examples(
        '--stage prod list --due',
        '--stage prod list --advice todo --since 24h --entity demo-bank',
        '--stage prod list --status FAILED PARTIAL --batch morning-2026-11-27 --csv',
      )
      .action(run(async () => (await import('./commands/list.ts')).list)),
  (command, run) =>
    command('deliver')
      .description('sign a test delivery and send it to the webhook')
      .argument('[taskId]', 'the task; with --forged or --orphan, by default one of no extraction', taskId)
      .option('--extraction <extractionId>', 'the task of this extraction', extractionId)
      .addOption(
        new Option('--status <taskStatus>', 'the final status of the task')
          .choices(terminalStatuses)
          .default('COMPLETED'),
      )
      .option('--encrypted', 'in encrypted mode')
      .option('--forged', 'with a wrong signature, which must be answered 401 and change nothing')
      .option('--orphan', 'send it although no extraction is linked to the task')
      .option('--yes', 'settle an open extraction without a prompt; stage local only')
      .option('--force', 'settle an open extraction of any other stage, in place of the provider')
      .examples(
        `--stage local deliver --extraction ${id} --encrypted`,
        `--stage prod deliver --extraction ${id} --forged`,
      )
      .action(run(async () => (await import('./commands/deliver.ts')).deliver)),
  (command, run) =>
    command('fill')
      .description('store a key of the provider in its secret')
      .addArgument(
        new Argument('<key>', 'the key, which is prompted for').choices(['api-key', 'signing-key']),
      )
      .option(
        '--drop-previous',
        'store it although the provider may still sign with the previous signing key',
      )
      .examples('--stage prod fill api-key', '--stage prod fill signing-key < signing-key.txt')
      .action(run(async () => (await import('./commands/fill.ts')).fill)),
  (command, run) =>
    command('reconcile')
      .description('reconcile an extraction now, or all that are due')
      .argument('[extractionId]', 'the extraction', extractionId)
      .option('--all-due', 'run a sweep')
      .examples(`--stage prod reconcile ${id}`, '--stage prod reconcile --all-due')
      .action(run(async () => (await import('./commands/reconcile.ts')).reconcile)),
  (command, run) =>
    command('cancel')
      .description('end an extraction that has not been started, or all of a batch')
      .argument('[extractionId]', 'the extraction', extractionId)
      .option('--batch <text>', "all of this batch of the caller's that have not been started")
      .option('--yes', 'skip the prompt')
      .examples(`--stage prod cancel ${id}`, '--stage prod cancel --batch morning-2026-11-27')
      .action(run(async () => (await import('./commands/cancel.ts')).cancel)),
  (command, run) =>
    command('erase')
      .description('erase an extraction, or all with a reference, and their results for good')
      .argument('[extractionId]', 'the extraction', extractionId)
      .option('--reference <reference>', 'all that carry this reference now')
      .option('--caller <arn>', 'with --reference: only those of this caller')
      .option('--erasure <erasureId>', 'show an erasure that was begun before')
      .option('--no-wait', 'do not wait until all is erased')
      .option('--yes', 'skip the prompt')
      .examples(
        `--stage prod erase ${id}`,
        '--stage prod erase --reference user-4711',
        `--stage prod erase --erasure ${id} --json`,
      )
      .action(run(async () => (await import('./commands/erase.ts')).erase)),
  (command, run) =>
    command('forget-refusals')
      .description('let credentials be sent again that the provider wrongly reported as wrong')
      .usage('--entity <slug> --since <time> [options]')
      .requiredOption('--entity <slug>', 'of this entity only (required)')
      .requiredOption(
        '--since <time>',
        'refused within 2h, for example, or since 2026-11-22T08:00:00Z (required)',
        since,
      )
      .option('--yes', 'skip the prompt')
      .examples('--stage prod forget-refusals --entity demo-bank --since 2h')
      .action(run(async () => (await import('./commands/forget-refusals.ts')).forgetRefusals)),
  (command, run) =>
    command('restore')
      .description('copy missing records from a table that point-in-time recovery made')
      .usage('--from <table> [options]')
      .requiredOption('--from <table>', 'the restored table (required)')
      .option('--dry-run', 'only report what would be done')
      .examples('--stage prod restore --from Cosecha-prod_restored --dry-run')
      .action(run(async () => (await import('./commands/restore.ts')).restore)),
  (command, run) =>
    command('export')
      .description(
        'write the current state of all extractions to a file, as one event a line, or their results too',
      )
      .usage('--output <file>|--results <directory> [options]')
      .option('--output <file>', 'a new file, or one whose export was interrupted')
      .option(
        '--results <directory>',
        'also store the results of each here (default of --output: extractions.jsonl here)',
      )
      .option('--since <time>', 'only those requested within 31d, for example, or since 2026-10-01', since)
      .option('--until <time>', 'only those requested before 2026-11-01, for example', since)
      .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
      .option('--reference <text>', "only those with this reference of the caller's")
      .option('--batch <text>', "only those of this batch of the caller's")
      .option('--units-per-second <n>', 'read no faster than so many units of capacity', count, 500)
      .option('--yes', 'skip the prompt')
      .examples(
        '--stage prod export --since 30d --output extractions.jsonl',
        '--stage prod export --since 2026-10-01 --until 2026-11-01 --results october',
      )
      .action(run(async () => (await import('./commands/export.ts')).exportCommand)),
  (command, run) =>
    command('redrive')
      .description('reconcile the extraction of each message in the dead-letter queue')
      .option(
        '--remove <messageId>',
        'delete this message, which Cosecha did not write; may be repeated',
        appended,
      )
      .examples('--stage prod redrive', `--stage prod redrive --remove ${id}`)
      .action(run(async () => (await import('./commands/redrive.ts')).redrive)),
  (command, run) =>
    command('pause')
      .description('hold all calls that start tasks at the provider, or that read them')
      .usage('--starts|--reads --reason <text> [options]')
      .option('--starts', 'hold starts')
      .option('--reads', 'hold reads')
      .requiredOption('--reason <text>', 'why; shown where calls are paused (required)', pauseReason)
      .examples('--stage prod pause --starts --reason maintenance')
      .action(run(async () => (await import('./commands/pause.ts')).pause)),
  (command, run) =>
    command('resume')
      .description('end a pause, and close the breakers that are open')
      .option('--starts', 'of starts only')
      .option('--reads', 'of reads only')
      .examples('--stage prod resume')
      .action(run(async () => (await import('./commands/pause.ts')).resume)),
  (command, run) =>
    command('rate')
      .description('print how many starts a second are made and who waits for them, or set the rate')
      .argument('[startsPerSecond]', 'the rate from now on, in place of the setting', startsPerSecond)
      .option('--reason <text>', 'why; required with a rate, and shown with it', pauseReason)
      .option('--clear', 'end a rate by hand, and forget what was learnt')
      .option('--watch', 'print who waits, is started and is refused, and why the rate changes, until Ctrl-C')
      .examples('--stage prod rate', '--stage prod rate 3 --reason agreed')
      .action(run(async () => (await import('./commands/rate.ts')).rate)),
  (command, run) =>
    command('doctor')
      .description('check the deployment, and print a remedy for each failed check')
      .option('--provider', 'also log in at the provider with the API key')
      .examples('--stage prod doctor --provider', '--stage prod doctor --json')
      .action(run(async () => (await import('./commands/doctor.ts')).doctor)),
  (command, run) =>
    command('health')
      .description('compare the entities in the last hour and day with the ones before, the worst first')
      .examples('--stage prod health', '--stage prod health --json')
      .action(run(async () => (await import('./commands/health.ts')).health)),
  (command, run) =>
    command('usage')
      .description('print how much each caller requests of each bank, how it ends, and what it costs')
      .option('--caller <name>', 'only this caller, by its ARN or the name of its role')
      .option('--batch <text>', "only this batch of the caller's")
      .addOption(sinceOption('what ended, or was requested, within 2h, or since 2026-11-22', '24h'))
      .option('--until <time>', 'what did so before 2026-11-23', since)
      .examples('--stage prod usage --since 24h', '--stage prod usage --batch morning --json')
      .action(run(async () => (await import('./commands/usage.ts')).usage)),
  (command, run) =>
    command('audit')
      .description('check every rule over the requests of a period and all that is open')
      .addOption(sinceOption('requests within 2h, for example, or since 2026-11-22T08:00:00Z', '24h'))
      .option('--sample <n>', 'only so many requests, drawn at random', count)
      .option('--seed <text>', 'draw the same as a run that printed this seed')
      .option('--results', 'also read all results, and compare their SHA-256')
      .examples('--stage prod audit --since 24h', '--stage prod audit --sample 1000 --json')
      .action(run(async () => (await import('./commands/audit.ts')).audit)),
  (command, run) =>
    command('logs')
      .description('print the log of a function, or of all of them')
      .addArgument(new Argument('[function]', 'the function; api: the access log').choices(logNames))
      .addOption(new Option('--errors', 'only warnings and errors').conflicts('filter'))
      .option('--filter <pattern>', 'only what this filter pattern of CloudWatch matches')
      .addOption(sinceOption('lines of the last 2h, for example, or since 2026-11-22T08:00:00Z', '1h'))
      .examples('--stage prod logs --errors', '--stage prod logs start-task --since 2h')
      .action(run(async () => (await import('./commands/logs.ts')).logs)),
  (command, run) =>
    command('output')
      .description('print an output of the stack or all, or the name of one of its resources')
      .argument('[name]', 'the output, or a part of the name of the resource')
      .option('--resource <type>', 'the type of the resource, such as Events::Rule')
      .examples('--stage prod output WebhookUrl', '--stage prod output Sweep --resource Events::Rule')
      .action(run(async () => (await import('./commands/output.ts')).output)),
  (command, run) =>
    command('console')
      .description('serve a page in your browser with what is open, overdue and ended, until Ctrl-C')
      .addOption(
        new Option('--port <port>', 'the port on 127.0.0.1 (0: any free one)').argParser(port).default(0),
      )
      .option(
        '--actions',
        'allow reconcile, cancel, start again, request again, erase, redrive, pause and resume, each after a confirmation',
      )
      .examples('--stage prod console', '--stage prod console --actions')
      .action(run(async () => (await import('./commands/console.ts')).serve)),
];

/** A zsh without settings has no `compdef` yet. `-i`: without the question of folders that others may write to. */
const loadCompdef = '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }';

/**
 * Prints the library's script for a shell, without `readonly`: bash refuses to define such a variable again, so that a
 * script that is sourced twice would print errors. The library can only print the script.
 */
const printCompletion = (shell: string): void => {
  const { log } = console;
  console.log = (text: string) =>
    log(text.replaceAll(/^readonly /gm, '').replace(/^(?=compdef )/m, `${loadCompdef}\n`));
  try {
    script(shell, 'cosecha', 'cosecha');
  } finally {
    console.log = log;
  }
};

/** A variable of the shell that is not set arrives as an empty argument, which could stand for all, or for a default. */
const refuseEmpty = (one: Argument | Option): void => {
  const { parseArg = (text: string): unknown => text } = one;
  one.argParser((text: string, before: unknown) => {
    if (text === '') throw new InvalidArgumentError(`No ${one.name()} is given: the argument is empty.`);
    return parseArg(text, before);
  });
};

/** Completes the commands and options above, so it comes after them. Shells call its hidden command `complete`. */
const addCompletion = (program: CosechaCommand): void => {
  completion(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print a script that completes commands and options in your shell')
    .action(printCompletion)
    .examples('completion bash');
};

export const commandNames = (program: Command): readonly string[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name());

/** In place of commander's own, which prints the general help for a command that does not exist. */
const addHelp = (program: CosechaCommand): void => {
  program
    .command('help')
    .description('print the commands, or the options of one')
    .addArgument(new Argument('[command]', 'the command').choices(commandNames(program)))
    .examples('help start')
    .action((name: string | undefined) => {
      (program.commands.find((command) => command.name() === name) ?? program).help();
    });
};

/**
 * The command line of `cosecha`. A test compares its commands and options with docs/cli.md. It prints no error:
 * `main` does, as `--json` applies to errors too.
 */
export const createProgram = (run: Run, version: string): Command => {
  const program = new CosechaCommand('cosecha')
    .description('Operates one deployment of Cosecha, on AWS or on an emulator.')
    .option('--stage <stage>', 'the deployment: stack Cosecha-<stage> (default: COSECHA_STAGE)')
    .option('--stack <stack>', 'where the construct is in your own stack: <stack name>/<construct id>')
    .option('--json', 'print results and errors as one JSON object per line')
    .option('--region <region>', 'AWS region (default: as for the AWS CLI)')
    .option('--profile <profile>', 'AWS profile (default: as for the AWS CLI)')
    .version(version, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .examples('--stage prod doctor', '--stage local list', 'start --help', '--stage prod list --json')
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
  const runImported: RunImported =
    (load) =>
    (...args) =>
      run(async (context) => {
        for (const note of notesOf(args)) context.shell.hint(note);
        const work = (await load()) as (...args: readonly unknown[]) => Promise<number>;
        const given = await Promise.all(
          args.slice(0, work.length - 1).map(withWholeIds(args.at(-1), context)),
        );
        return work(...given, context);
      });
  for (const add of commands) add(program.command.bind(program), runImported);
  // An empty --region or --profile is none, as for the AWS CLI, and an empty --stage is no stage.
  const own = program.options.filter((option) => option.name() === 'stack');
  const given = program.commands.flatMap(({ options, registeredArguments }) => [
    ...options.filter(({ required }) => required),
    ...registeredArguments,
  ]);
  for (const one of [...own, ...given]) refuseEmpty(one);
  addCompletion(program);
  addHelp(program);
  return program;
};
