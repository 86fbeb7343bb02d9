/** The faults by which the text of a secret contains more than the secret, each described by a clause. */
export const secretFaults = {
  json: 'is JSON, as the console of Secrets Manager stores a key and its value',
  quotes: 'is in quotes',
  'white-space': 'starts or ends with white space',
  'byte-order-mark': 'starts with a byte order mark',
  command: 'is a command, as the next line of what was pasted may be',
  'no-token': 'has a space, or another character than printable ASCII',
} as const;

export type SecretFault = keyof typeof secretFaults;

/** A part of a stored text that may be the secret itself. */
type Inner = { readonly fault: SecretFault; readonly text: string };

const quoted = /^(?:"(.+)"|'(.+)'|`(.+)`|“(.+)”|‘(.+)’)$/s;

const valuesOfJson = (text: string): readonly string[] => {
  if (!text.startsWith('{')) return [];
  try {
    const values = Object.values(JSON.parse(text) as object);
    return values.filter((value) => typeof value === 'string' && value !== '');
  } catch {
    return [];
  }
};

const unwrapOnce = (text: string): readonly Inner[] => {
  const readAs = (fault: SecretFault, ...texts: readonly string[]) =>
    texts.map((inner) => ({ fault, text: inner }));
  if (text.startsWith('\ufeff')) return readAs('byte-order-mark', text.slice(1));
  const trimmed = text.trim();
  if (trimmed !== text) return readAs('white-space', trimmed);
  const inQuotes = quoted.exec(text)?.slice(1).find(Boolean);
  return inQuotes === undefined ? readAs('json', ...valuesOfJson(text)) : readAs('quotes', inQuotes);
};

/** Three layers are, for example, a byte order mark, white space and quotes. */
const maxLayers = 3;

/** Returns the secrets that a text with a fault may contain, each with the outermost fault. Empty if the text looks like a secret. */
export const secretsIn = (text: string, layers = maxLayers): readonly Inner[] =>
  layers === 0
    ? []
    : unwrapOnce(text).flatMap((inner) => [
        inner,
        ...secretsIn(inner.text, layers - 1).map((deeper) => ({ ...deeper, fault: inner.fault })),
      ]);

export const secretFaultOf = (text: string): SecretFault | undefined =>
  unwrapOnce(text)[0]?.fault ?? (pasted.test(text) ? 'command' : undefined);

/** A command that a page or a deployment prints below a command that prompts for a secret. */
const pasted = /^(?:\w+=\S+ +)*(?:npm|npx|node|cosecha|aws|cdk|curl|export|echo) /;

/** The fault of an API key. It is sent in a header, so it also needs characters that a header can have. */
export const apiKeyFaultOf = (text: string): SecretFault | undefined =>
  secretFaultOf(text) ?? (/^[!-~]+$/.test(text) ? undefined : 'no-token');
