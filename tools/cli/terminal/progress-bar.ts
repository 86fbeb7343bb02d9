import type { Shell } from './command-environment.ts';

/** A bar where the terminal can replace it, and elsewhere a line for each tenth. `done`: what was done, such as `requested`. */
export const progressOf = (shell: Shell, all: number, done: string): ((number: number) => void) => {
  let tenths = -1;
  return (number) => {
    const now = Math.min(10, Math.floor((10 * number) / all));
    const text = `${number.toLocaleString('en')} of ${all.toLocaleString('en')} ${done}`;
    shell.wait(`${'█'.repeat(2 * now)}${'░'.repeat(20 - 2 * now)} ${text}`);
    if (shell.columns === undefined && now > tenths) shell.hint(text);
    tenths = now;
  };
};
