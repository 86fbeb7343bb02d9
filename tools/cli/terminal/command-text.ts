/**
 * A command of one deployment as text that can be pasted: `command('reconcile', extractionId)`. Its name and its arguments are values.
 * What others wrote never becomes a command, however it reads.
 */
export type CommandText = (name: string, ...args: readonly string[]) => string;

/** A word as a POSIX shell reads it back. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** With the options that name the deployment, such as `stage`. */
export const commandTextOf =
  (options: Readonly<Record<string, string | undefined>> = {}): CommandText =>
  (name, ...args) => {
    const named = Object.entries(options).flatMap(([option, value]) => (value ? [`--${option}`, value] : []));
    return ['npm exec --no -- cosecha', ...[...named, name, ...args].map(quoted)].join(' ');
  };
