import type { Emulator } from '../emulator/emulator.ts';

/** Two shell lines that work one after the other: start an extraction, read it. Needs curl 7.75 or later. */
export const curlLines = (
  { client, caFile }: Pick<Emulator, 'client' | 'caFile'>,
  base: string,
  request: unknown,
): readonly [start: string, read: string] => {
  const { region, credentials } = client;
  // `test` is no secret: every emulator of this kind takes it. Others stay where they are, in the environment.
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

/** For a POSIX shell: nothing is special between single quotes but the quote itself. */
const quote = (text: string): string => {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
};
