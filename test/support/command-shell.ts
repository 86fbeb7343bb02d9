import type { CommandContext } from '../../tools/cli/commands/command-context.ts';
import { at } from './data/extraction-fixtures.ts';

/** The context of a command over this deployment, 100 s after the fixtures were requested, and what the command shows and writes. */
export const commandIn = (deployment: object, more: Partial<CommandContext['shell']> = {}) => {
  const [printed, hints, waits]: [string[], string[], string[]] = [[], [], []];
  const facts: object[] = [];
  const files: Record<string, string> = {};
  const shell: Partial<CommandContext['shell']> = {
    now: () => at(100),
    sleep: async () => undefined,
    interrupted: () => new AbortController().signal,
    randomId: () => 'random',
    wait: (text) => void waits.push(...[text ?? []].flat()),
    hint: (lines) => void hints.push(...[lines].flat()),
    print: (lines, fact) => {
      printed.push(...[lines].flat());
      facts.push(fact);
    },
    writePrivately: async (path, bytes) => {
      files[path] = Buffer.from(bytes).toString();
    },
    ...more,
  };
  const context = { shell, connect: async () => deployment } as unknown as CommandContext;
  return { context, shell: shell as CommandContext['shell'], printed, hints, waits, facts, files };
};
