import { audit as auditDeployment } from '../audit/audit.ts';
import { auditSources } from '../audit/audit-sources-from-aws.ts';
import { commandFor, describeAudit, describeEstimate, describeRule } from '../audit/describe-audit.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type AuditCommandOptions = {
  readonly since: Since;
  readonly sample?: number;
  readonly seed?: string;
  readonly results?: true;
};

export const audit = async (options: AuditCommandOptions, { shell, connect }: CommandContext) => {
  const deployment = await connect();
  const now = shell.now();
  const { sample, results, seed = shell.randomId().slice(0, 8) } = options;
  const since = options.since(now);
  const period = { from: since.toISOString(), to: now.toISOString() };
  const sources = auditSources(deployment);
  shell.hint(await describeEstimate(sources.estimate(period), sample));
  const report = await auditDeployment(
    sources,
    { since, clock: shell.now, sample, seed, results },
    shell.wait,
  );
  shell.wait(undefined);
  for (const rule of report.rules) {
    const findings = rule.findings.map((one) => ({
      ...one,
      command: commandFor(one, deployment.command),
    }));
    shell.print(describeRule(rule, deployment.command), { ...rule, findings });
  }
  const { rules, ...counts } = report;
  const drawn = sample === undefined ? undefined : seed;
  shell.print(describeAudit(report, drawn), { ...period, ...counts, seed: drawn });
  return rules.every(({ result }) => result === 'passed') ? 0 : 1;
};
