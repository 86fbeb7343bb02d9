import type { CommandText } from '../terminal/command-text.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import { plural } from '../terminal/plural.ts';
import type { AuditReport, RuleReport } from './audit.ts';
import type { Finding } from './audit-types.ts';

/**
 * What an audit is about to read. A record, and an item of `Tasks`, have less than the 4 KB of a read unit. If the number may not
 * be read, the sentence says why.
 */
export const describeEstimate = async (
  estimate: Promise<number | undefined>,
  sample = Number.POSITIVE_INFINITY,
): Promise<string> => {
  const requests = await estimate.catch((error: unknown) => {
    const explanation = explainFailure(error);
    if (explanation === undefined) throw error;
    return explanation;
  });
  const rest = 'all that is open or sealed, and the stream of 24 h.';
  if (typeof requests !== 'number') {
    const unknown = 'the requests in the log (their number is not known here), their records and tasks';
    return `Reads ${unknown}, ${rest}${requests === undefined ? '' : ` ${requests}`}`;
  }
  const audited = Math.min(requests, sample);
  const known = `about ${plural(requests, 'request')} in the log, and the records and tasks of ${audited.toLocaleString('en')} (about ${plural(2 * audited, 'read unit')})`;
  return `Reads ${known}, ${rest}`;
};

/** More findings of one rule do not fit on a screen. --json prints all. */
const maxFindings = 20;

/** The command that shows more of a finding. */
export const commandFor = ({ extractionId }: Finding, command: CommandText): string =>
  extractionId === '' ? command('rate') : command('explain', extractionId);

/** The lines of a rule, with the command that explains each extraction. */
export const describeRule = (
  { sentence, result, checked, findings, notChecked }: RuleReport,
  command: CommandText,
): readonly string[] => {
  if (result === 'unchecked') return [`✗ ${sentence} Not checked: ${notChecked}`];
  const found = findings.length === 0 ? '' : `, ${plural(findings.length, 'finding')}`;
  const left = findings.length - maxFindings;
  return [
    `${result === 'passed' ? '✓' : '✗'} ${sentence} ${checked.toLocaleString('en')} checked${found}.`,
    ...findings
      .slice(0, maxFindings)
      .flatMap((one) => [`  ${one.what}`, `    → \`${commandFor(one, command)}\``]),
    ...(left > 0 ? [`  … and ${left.toLocaleString('en')} more, which --json prints.`] : []),
    ...(notChecked === undefined ? [] : [`  · not checked: ${notChecked}`]),
  ];
};

/** What was audited. `drawn`: the seed, if requests were drawn. */
export const describeAudit = (report: AuditReport, drawn: string | undefined): string => {
  const { requests, audited, records, ofOtherVersions } = report;
  const sample =
    drawn === undefined ? '' : `, ${audited.toLocaleString('en')} of them drawn with --seed ${drawn}`;
  const others =
    ofOtherVersions === 0 ? '' : ` ${plural(ofOtherVersions, 'record')} of another version: not checked.`;
  return `${plural(requests, 'request')}${sample}. ${plural(records, 'record')}, with all that are open.${others}`;
};
