import { Command, InvalidArgumentError, Option } from 'commander';
import { validate as isUuid } from 'uuid';
import { terminalStatuses } from '../extraction/record.ts';
import { isTaskId } from '../provider/tasks/task-id.ts';
import type { StartOptions } from './build-request.ts';
import type { DeliverOptions } from './commands/deliver.ts';
import type { DoctorOptions } from './commands/doctor.ts';
import type { EraseOptions } from './commands/erase.ts';
import type { GetOptions } from './commands/get.ts';
import type { ListOptions } from './commands/list.ts';
import type { ReconcileOptions } from './commands/reconcile.ts';
import type { RestoreOptions } from './commands/restore.ts';
import type { Context } from './context.ts';

export type GlobalOptions = {
  readonly stage?: string;
  readonly json?: true;
  readonly region?: string;
  readonly profile?: string;
};

/** Runs one command. Its work is imported where it is called for: all clients at once would cost a second. */
type Run = (work: (context: Context) => Promise<number>) => Promise<void>;

const extractionId = (value: string): string => {
  if (isUuid(value)) return value;
  throw new InvalidArgumentError('An extractionId is a UUID.');
};

const appended = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const ids = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  extractionId(value),
];

const taskId = (value: string): string => {
  if (isTaskId(value)) return value;
  throw new InvalidArgumentError('A taskId has 1 to 100 characters.');
};

/** The command line of `cosecha`: docs/cli.md has the same commands and options, held to it by a test. */
export const createProgram = (run: Run): Command => {
  const program = new Command('cosecha')
    .description('Operates one deployment of Cosecha, on AWS or on an emulator.')
    .option('--stage <stage>', 'which deployment: the stack Cosecha-<stage> (or set COSECHA_STAGE)')
    .option('--json', 'for machines: one JSON object per line')
    .option('--region <region>', 'AWS region, where the environment does not say it')
    .option('--profile <profile>', 'profile of the AWS configuration files')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();

  program
    .command('start')
    .description('request an extraction')
    .option('--file <path>', 'the whole request as JSON; - for standard input')
    .option('--entity <slug>', 'by credentials: where')
    .option('--action <id>', 'by credentials: an action without parameters; may be repeated', appended)
    .option('--movement-from <date>', 'by credentials: the action movement, from this day')
    .option('--movement-to <date>', 'to this day')
    .option('--credentials <path>', 'file with the credentials as JSON (default: -, standard input)')
    .option('--consent <consentId>', 'by consent: which')
    .option('--product <product>', 'by consent: what')
    .option('--variant <v1|v2>', "by consent: the provider's interface")
    .option('--target <path>', 'file with the national id (default: -, standard input)')
    .option('--reference <text>', "the caller's own word for it")
    .option(
      '--idempotency-key <key>',
      'the same key starts one extraction, however often (default: a random one)',
    )
    .option('--watch', 'go on watching it until it is closed')
    .action((options: StartOptions) =>
      run(async (context) => (await import('./commands/start.ts')).start(options, context)),
    );

  program
    .command('get')
    .description('show the record of an extraction')
    .argument('<extractionId>', 'which', extractionId)
    .option('--results <file>', 'store its results in this new file instead')
    .action((id: string, options: GetOptions) =>
      run(async (context) => (await import('./commands/get.ts')).get(id, options, context)),
    );

  program
    .command('watch')
    .description('watch an extraction until it is closed, or everything as it happens')
    .argument('[extractionId]', 'which; everything without', extractionId)
    .action((id: string | undefined) =>
      run(async (context) => (await import('./commands/watch.ts')).watch(id, context)),
    );

  program
    .command('list')
    .description('list what is open, the most overdue first')
    .addOption(new Option('--open', 'everything that is open (the default)').conflicts('due'))
    .option('--due', 'only what is due')
    .action((options: ListOptions) =>
      run(async (context) => (await import('./commands/list.ts')).list(options, context)),
    );

  program
    .command('deliver')
    .description('sign a test delivery and send it to the webhook')
    .argument('[taskId]', 'for which task', taskId)
    .option('--extraction <extractionId>', 'for the task of this extraction', extractionId)
    .addOption(
      new Option('--status <taskStatus>', 'which end it tells of')
        .choices(terminalStatuses)
        .default('COMPLETED'),
    )
    .option('--encrypted', 'in encrypted mode')
    .option('--forged', 'with a wrong signature: expects to be refused, and changes nothing')
    .option('--orphan', 'even if no extraction is linked to the task')
    .option('--yes', 'settle an open extraction without being asked; stage local only')
    .option('--force', 'settle an open extraction of any stage on your word')
    .action((id: string | undefined, options: DeliverOptions) =>
      run(async (context) => (await import('./commands/deliver.ts')).deliver(id, options, context)),
    );

  program
    .command('reconcile')
    .description('have an extraction looked at now, or everything that is due')
    .argument('[extractionId]', 'which', extractionId)
    .option('--all-due', 'sweep now')
    .action((id: string | undefined, options: ReconcileOptions) =>
      run(async (context) => (await import('./commands/reconcile.ts')).reconcile(id, options, context)),
    );

  program
    .command('erase')
    .description('erase a closed extraction and its results for good')
    .argument('<extractionId>', 'which', extractionId)
    .option('--yes', 'without being asked to type the id')
    .action((id: string, options: EraseOptions) =>
      run(async (context) => (await import('./commands/erase.ts')).erase(id, options, context)),
    );

  program
    .command('restore')
    .description('copy the records that are missing from a table restored by point-in-time recovery')
    .requiredOption('--from <table>', 'the restored table')
    .option('--except <extractionId>', 'leave this one out, as it was erased; may be repeated', ids)
    .option('--dry-run', 'only say what would be done')
    .action((options: RestoreOptions) =>
      run(async (context) => (await import('./commands/restore.ts')).restore(options, context)),
    );

  program
    .command('redrive')
    .description('do again what the dead-letter queue holds')
    .action(() => run(async (context) => (await import('./commands/redrive.ts')).redrive(context)));

  program
    .command('doctor')
    .description('say in plain words what is wrong, and what to do')
    .option('--provider', 'log in at the provider as well, with the API key')
    .action((options: DoctorOptions) =>
      run(async (context) => (await import('./commands/doctor.ts')).doctor(options, context)),
    );

  return program;
};
