/** What shows that the text of a secret is not the secret alone, each with its meaning as a clause. */
export const secretFaults = {
  json: 'is JSON, as the console of Secrets Manager stores a key and its value',
  quotes: 'is in quotes',
  'white-space': 'starts or ends with white space',
  'byte-order-mark': 'starts with a byte order mark',
  command: 'is a command, as the next line of what was pasted may be',
  'no-token': 'has a space, or another character than printable ASCII',
} as const;

export type SecretFault = keyof typeof secretFaults;

/** A text that may be the secret itself, inside of the one that is stored. */
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

/** Such as a line of a file with a byte order mark, in quotes. */
const maxLayers = 3;

/**
 * The texts that may have been meant by one that was filled with more than the secret, each with the outermost fault. Empty where
 * the text looks like a secret.
 */
export const secretsIn = (text: string, layers = maxLayers): readonly Inner[] =>
  layers === 0
    ? []
    : unwrapOnce(text).flatMap((inner) => [
        inner,
        ...secretsIn(inner.text, layers - 1).map((deeper) => ({ ...deeper, fault: inner.fault })),
      ]);

/** The fault of a text, or undefined where it looks like a secret. */
export const secretFaultOf = (text: string): SecretFault | undefined =>
  unwrapOnce(text)[0]?.fault ?? (pasted.test(text) ? 'command' : undefined);

/** What the next steps of a deployment, and the pages, print below a command that prompts. */
const pasted = /^(?:\w+=\S+ +)*(?:npm|npx|node|cosecha|aws|cdk|curl|export|echo) /;

/** The same of an API key. It is sent in a header, which cannot have every character. */
export const apiKeyFaultOf = (text: string): SecretFault | undefined =>
  secretFaultOf(text) ?? (/^[!-~]+$/.test(text) ? undefined : 'no-token');
