import { audit as auditDeployment } from '../audit/audit.ts';
import { auditSources } from '../audit/deployment-sources.ts';
import { describeAudit, describeEstimate, describeRule } from '../audit/print-audit.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { Context } from './context.ts';

export type AuditCommandOptions = {
  readonly since: Since;
  readonly sample?: number;
  readonly seed?: string;
  readonly results?: true;
};

/** Checks what the deployment has recorded, and prints a line for each rule and each finding. */
export const audit = async (options: AuditCommandOptions, { shell, connect }: Context): Promise<number> => {
  const deployment = await connect();
  const now = shell.now();
  const since = options.since(now);
  const { sample, results, seed = shell.randomId().slice(0, 8) } = options;
  const sources = auditSources(deployment);
  const from = since.toISOString();
  const estimate = await sources.estimate({ from, to: now.toISOString() }).catch((error: unknown) => {
    shell.hint(`No estimate: ${explainFailure(error) ?? String(error)}`);
    return {};
  });
  shell.hint(describeEstimate(estimate, from, sample));
  const report = await auditDeployment(sources, { since, now, sample, seed, results }, shell.wait);
  shell.wait(undefined);
  const explain = `cosecha --stage ${deployment.stage} explain`;
  for (const { findings, ...rule } of report.rules) {
    const commands = findings.map((finding) => ({
      ...finding,
      command: `${explain} ${finding.extractionId}`,
    }));
    shell.print(describeRule({ ...rule, findings }, explain), { ...rule, findings: commands });
  }
  const drawn = sample === undefined ? undefined : seed;
  const { rules, ...counts } = report;
  shell.print(describeAudit(report, drawn), {
    since: from,
    until: now.toISOString(),
    seed: drawn,
    ...counts,
  });
  return rules.every(({ result }) => result === 'passed') ? 0 : 1;
};
