import type { AuditReport, RuleReport } from './audit.ts';
import type { Finding } from './facts.ts';
import type { Estimate } from './sources.ts';

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

/** What an audit is about to read. A record and an item of `Tasks` take a read unit each: they have less than 4 KB. */
export const describeEstimate = (
  { requests, logBytes, requestItems }: Estimate,
  since: string,
  sample: number | undefined,
): string => {
  const log =
    logBytes === undefined ? 'the log' : `${Math.ceil(logBytes / 1_048_576).toLocaleString('en')} MB of log`;
  const read = sample === undefined ? requests : Math.min(sample, requests ?? sample);
  const units = read === undefined ? '' : ` (about ${count(2 * read, 'read unit')})`;
  const records = read === undefined ? 'all records' : `about ${count(read, 'record')}`;
  const items = requestItems === undefined ? 'the items' : `about ${count(requestItems, 'item')}`;
  return `Reads ${log} since ${since}, ${records} with their tasks${units}, ${items} of Requests, and the stream.`;
};

const signs = { passed: '✓', failed: '✗', unchecked: '✗' } as const;

/** More of one rule do not fit on a screen. --json prints all. */
const mostFindings = 20;

export const describeFinding = ({ extractionId, what }: Finding, explain: string): readonly string[] => [
  `  ${extractionId}  ${what}`,
  `    → ${explain} ${extractionId}`,
];

/** The lines of a rule. `explain` is the command that explains an extraction, without its id. */
export const describeRule = (
  { sentence, result, checked, findings, notChecked }: RuleReport,
  explain: string,
): readonly string[] => {
  if (result === 'unchecked') return [`${signs[result]} ${sentence} Not checked: ${notChecked}`];
  const found = findings.length === 0 ? '' : `, ${count(findings.length, 'finding')}`;
  const left = findings.length - mostFindings;
  return [
    `${signs[result]} ${sentence} ${checked.toLocaleString('en')} checked${found}.`,
    ...findings.slice(0, mostFindings).flatMap((finding) => describeFinding(finding, explain)),
    ...(left > 0 ? [`  … and ${left.toLocaleString('en')} more, which --json prints.`] : []),
    ...(notChecked === undefined ? [] : [`  · not checked: ${notChecked}`]),
  ];
};

/** What was audited, and how it ended. `drawn`: the seed, if requests were drawn. */
export const describeAudit = (
  { requests, audited, records, unknown, rules }: AuditReport,
  drawn: string | undefined,
): readonly string[] => {
  const findings = rules.reduce((sum, rule) => sum + rule.findings.length, 0);
  const unchecked = rules.filter(({ result }) => result === 'unchecked').length;
  const sample =
    drawn === undefined ? '' : `, of which ${audited.toLocaleString('en')} were drawn with --seed ${drawn}`;
  return [
    `${count(requests, 'request')}${sample}; ${count(records, 'record')}, open ones of before included.`,
    ...(unknown > 0 ? [`${count(unknown, 'record')} of another version not checked.`] : []),
    `${findings === 0 ? 'No finding' : count(findings, 'finding')}${unchecked === 0 ? '' : `, and ${count(unchecked, 'rule')} not checked`}.`,
  ];
};
