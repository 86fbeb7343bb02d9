import { afterEach, beforeEach, vi } from 'vitest';

/** Captures what each test writes to the console, standard output and standard error. */
export const capturedLog = (): { readonly lines: () => string } => {
  const written: string[] = [];
  const keep = (...parts: readonly unknown[]): void => void written.push(parts.map(String).join(' '));
  beforeEach(() => {
    written.splice(0);
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation(keep);
    }
    const write = (chunk: unknown): boolean => {
      keep(chunk);
      return true;
    };
    vi.spyOn(process.stdout, 'write').mockImplementation(write);
    vi.spyOn(process.stderr, 'write').mockImplementation(write);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return { lines: () => written.join('\n') };
};
