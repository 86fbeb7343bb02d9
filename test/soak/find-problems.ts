import { extractionsClient } from '#lib/client/index.ts';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';
import type { PolledTaskView, TaskView } from '../../sandbox/control/views.ts';
import { TERMINAL_STATUSES } from '../../sandbox/task-vocabulary.ts';
import { audit } from '../../tools/cli/audit/audit.ts';
import { auditSources } from '../../tools/cli/audit/audit-sources-from-aws.ts';
import { describeAudit, describeRule } from '../../tools/cli/audit/describe-audit.ts';
import type { Deployment } from '../../tools/cli/aws/deployment.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';
import type { Sent } from './run-storm.ts';

type Task = TaskView | PolledTaskView;

/** `extractionId` is that of a finding that can be explained. */
type Problem = { readonly extractionId?: string; readonly what: string };

const wrong = ({ status, taskId }: PublicExtraction, tasks: readonly Task[]): string | undefined => {
  const [task] = tasks;
  if (tasks.length > 1) return `The provider started ${tasks.length} tasks for it.`;
  if (status === 'NOT_STARTED' || status === 'REJECTED') return task && `It is ${status}, and has a task.`;
  if (TERMINAL_STATUSES.every((one) => one !== status)) return undefined;
  if (task?.taskId !== taskId) return `It is ${status}, of a task that is not its own.`;
  const ended = task !== undefined && 'taskStatus' in task ? task.taskStatus : status;
  return ended === status ? undefined : `It is ${status}, and its task ended ${ended}.`;
};

/** Reads every accepted request as its caller, prints the outcomes, and compares them with what the provider did. `open` still are. */
export const compareWithProvider = async (
  { api, provider }: LocalSystem,
  sent: readonly Pick<Sent, 'extractionId' | 'refused' | 'username'>[],
  open: readonly string[] = [],
): Promise<readonly Problem[]> => {
  const client = extractionsClient({ apiUrl: api.base, fetch: api.fetch });
  const tasks = [...(await provider.tasks()), ...(await provider.polledTasks())];
  const tasksOf = Map.groupBy<string, Task>(tasks, ({ username }) => username);
  const problems: Problem[] = [
    ...sent.flatMap(({ refused }) => (refused ? [{ what: `A valid request was refused: ${refused}` }] : [])),
    ...open.map((extractionId) => ({ extractionId, what: 'It is still open.' })),
  ];
  const outcomes: Record<string, number> = {};
  for (const [extractionId, { username }] of new Map(sent.map((one) => [one.extractionId, one]))) {
    if (extractionId === undefined) continue;
    const found = await client.getExtraction(extractionId);
    const { status = 'gone' } = found ?? {};
    outcomes[status] = (outcomes[status] ?? 0) + 1;
    const what = found === undefined ? 'It is gone.' : wrong(found, tasksOf.get(username) ?? []);
    if (what !== undefined) problems.push({ extractionId, what });
  }
  console.log(`Outcomes: ${JSON.stringify(outcomes)}`);
  for (const { extractionId = '', what } of problems) console.log(`✗ ${what} ${extractionId}`);
  return problems;
};

/** Audits the deployment, and prints the audit. */
export const auditAll = async (deployment: Deployment, since: Date): Promise<readonly Problem[]> => {
  const options = { since, clock: () => new Date(), seed: '', results: true } as const;
  const report = await audit(auditSources(deployment), options);
  for (const rule of report.rules) console.log(describeRule(rule, deployment.command).join('\n'));
  console.log(describeAudit(report, undefined));
  // A function that is killed leaves its sealed data to expire. Many of them would be findings.
  return report.rules.flatMap(({ result, findings, notChecked, left }): readonly Problem[] =>
    result === 'unchecked' && left === undefined ? [{ what: String(notChecked) }] : findings,
  );
};
