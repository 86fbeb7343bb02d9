import { checksOf, type DoctorOptions } from '../doctor/checks.ts';
import { type Finding, runCheck } from '../doctor/finding.ts';
import { plural } from '../terminal/plural.ts';
import type { CommandContext } from './command-context.ts';

const signs = { passed: '✓', failed: '✗', skipped: '·' } as const;

const linesOf = (finding: Finding): readonly string[] => {
  const line = `${signs[finding.result]} ${finding.message}`;
  return finding.result === 'failed' ? [line, `  → ${finding.remedy}`] : [line];
};

export const doctor = async (options: DoctorOptions, { shell, connect }: CommandContext): Promise<number> => {
  const deployment = await connect();
  let failures = 0;
  for (const check of checksOf(deployment, options, shell.now())) {
    shell.wait('checking');
    const finding = await runCheck(check, deployment.command);
    shell.wait(undefined);
    if (finding.result === 'failed') failures += 1;
    shell.print(linesOf(finding), { id: check.id, ...finding });
  }
  shell.hint(failures === 0 ? 'All checks passed.' : `${plural(failures, 'check')} failed.`);
  return failures === 0 ? 0 : 1;
};
