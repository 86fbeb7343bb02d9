import { LOCAL_STAGE } from '#lib/aws/stage.ts';
import { audit } from '../../../tools/cli/audit/audit.ts';
import { auditSources } from '../../../tools/cli/audit/audit-sources-from-aws.ts';
import { connect } from '../../../tools/cli/aws/deployment.ts';
import { repository } from '../../../tools/local/paths.ts';
import type { Deployed } from '../deployment.ts';

/** The audit found what no test is known to break. */
class AuditFoundSomething extends Error {
  override readonly name = 'AuditFoundSomething';
}

/** Audits everything that the tests have requested since `since`. Throws AuditFoundSomething. */
export const auditAfterTheSuite = async (
  { client }: Pick<Deployed, 'client'>,
  since: Date,
): Promise<void> => {
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client });
  const options = { since, clock: () => new Date(), seed: '', results: true } as const;
  const { requests, rules } = await audit(auditSources(deployment), options);
  const problems = rules.flatMap(({ id, findings, notChecked, left }) => [
    // Tests that interrupt a request or a removal leave its sealed data to expire. Many of them would be findings.
    ...(notChecked === undefined || left !== undefined ? [] : [`${id} was not checked: ${notChecked}`]),
    ...findings.map(({ extractionId, what }) => `${id}: ${extractionId}: ${what}`),
  ]);
  if (problems.length > 0) throw new AuditFoundSomething(`\n${problems.join('\n')}`);
  console.info(`The audit found nothing in ${requests} requests.`);
};
