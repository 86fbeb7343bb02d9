/** The provider's default limit for an answer, which `resultsMaxBytes` also has. */
export const answerBytes = 20 * 1_048_576;

const action = '{"id":"tef","status":"FAILED","error":{"code":"TIMEOUT_ERROR","message":"m"},"output":[]}';
const movement = (description: string): string =>
  `{"date":"2026-01-02","amount":-12345,"currency":"CLP","originAccount":"12345678","description":"${description}"}`;

/** An answer of `answerBytes`: `unit` as often as it fits between the two ends. JSON allows the spaces at its end. */
const filled = (start: string, unit: (index: number) => string, end: string): Buffer => {
  const bytes = Buffer.alloc(answerBytes, ' ');
  let at = bytes.write(start);
  for (let index = 0; ; index += 1) {
    const next = unit(index);
    if (at + 3 * next.length + end.length > answerBytes) break;
    at += bytes.write(next, at);
  }
  bytes.write(end, at);
  return bytes;
};

/** Items between commas. `null` follows the last comma. */
const listed = (item: (index: number) => string, start = '[', end = ']'): Buffer =>
  filled(
    `{"taskStatus":"COMPLETED","results":{"actions":${start}`,
    (index) => `${item(index)},`,
    `null${end}}}`,
  );

const depth = answerBytes / 2 - 1_000;

/** Answers of one size and of different shapes, by their names. Each is JSON. */
export const answerShapes: Readonly<Record<string, () => Buffer>> = {
  'movements, ASCII': () => listed(() => movement('Transfer to a friend')),
  'movements, other letters': () => listed(() => movement('Transferencia — Ñuñoa')),
  'small actions': () => listed(() => action),
  'empty arrays': () => listed(() => '[]'),
  'nested arrays': () => listed(() => '[[[[[[[[]]]]]]]]'),
  'nested objects': () => listed(() => '{"a":{"b":{"c":{}}}}'),
  'objects with many keys': () =>
    filled('{"taskStatus":"COMPLETED","results":{"actions":{', (index) => `"k${index}":0,`, '"last":null}}}'),
  'one long string': () => filled('{"taskStatus":"COMPLETED","results":"', () => 'x', '"}'),
  'one long string, other letters': () => filled('{"taskStatus":"COMPLETED","results":"', () => '—', '"}'),
  'one long string of escapes': () => filled('{"taskStatus":"COMPLETED","results":"', () => '\\u00e9', '"}'),
  'one long key': () => filled('{"taskStatus":"COMPLETED","', () => 'x', '":null}'),
  'short strings': () => listed(() => '""'),
  'short numbers': () => listed(() => '1'),
  'one long number': () => filled('{"taskStatus":"COMPLETED","results":1', () => '0', '}'),
  'one depth of ten million': () =>
    Buffer.from(`{"taskStatus":"COMPLETED","results":${'['.repeat(depth)}${']'.repeat(depth)}}`),
};
