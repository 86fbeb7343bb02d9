import type { Emulator } from '../emulator/emulator.ts';

/** Two shell lines, of which the first starts an extraction and the second reads it. They need curl 7.75 or later. */
export const curlLines = (
  { client, caFile }: Pick<Emulator, 'client' | 'caFile'>,
  base: string,
  request: unknown,
): readonly [start: string, read: string] => {
  const { region, credentials } = client;
  // `test` is not a secret, as every such emulator accepts it. Other credentials stay in the environment.
  const isWellKnown = credentials.accessKeyId === 'test' && credentials.secretAccessKey === 'test';
  const curl = [
    'curl -s',
    ...(caFile === undefined ? [] : [`--cacert ${quote(caFile)}`]),
    `--aws-sigv4 aws:amz:${region}:execute-api`,
    `--user ${isWellKnown ? 'test:test' : '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"'}`,
    ...(credentials.sessionToken === undefined ? [] : ['-H "X-Amz-Security-Token: $AWS_SESSION_TOKEN"']),
  ].join(' ');
  const body = quote(JSON.stringify(request));
  const extractionId = String.raw`sed 's/.*"extractionId":"\([^"]*\)".*/\1/'`;
  return [
    `EXTRACTION_ID=$(${curl} -H 'Content-Type: application/json' -d ${body} ${quote(`${base}/extractions`)} | ${extractionId})`,
    `${curl} ${quote(`${base}/extractions/`)}"$EXTRACTION_ID"`,
  ];
};

/** A plan of the sandbox applies to the start calls with its username (docs/sandbox.md). */
const samplePlans = [
  ['hang', { start: [{ kind: 'silence' }] }, 'the start call gets no answer'],
  ['drop', { webhook: { enabled: false } }, 'the webhook is never sent'],
  ['forge', { webhook: { tamper: 'signature' } }, 'every webhook has a wrong signature'],
] as const;

/** Three shell lines, each of which makes the sandbox misbehave for one username. */
export const planLines = (sandboxControlUrl: string): readonly string[] =>
  samplePlans.map(
    ([username, plan, effect]) =>
      `curl -s -X PUT ${sandboxControlUrl}/plans/${username} -d ${quote(JSON.stringify(plan))}   # ${effect}`,
  );

/** Quotes for a POSIX shell, where only the quote itself is special between single quotes. */
const quote = (text: string): string => {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
};
