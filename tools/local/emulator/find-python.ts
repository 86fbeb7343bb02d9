import { PythonMissing } from '../expected-failure.ts';
import { repository } from '../paths.ts';
import { runCommand } from '../run-command.ts';

/** The alternative to Python, at the end of sentences that report it missing. */
export const withoutPython =
  'or set AWS_ENDPOINT_URL to an emulator that you run yourself, for example MiniStack in a container ' +
  '(docker run --network host ministackorg/ministack, then AWS_ENDPOINT_URL=http://127.0.0.1:4566)';

/** A Python that can create the emulator's environment: the absolute path of its interpreter, and its version. */
export type Python = { executable: string; version: string };

/** What the script printed. `missing` names the standard modules that the distribution leaves out. */
export type DescribedPython = Python & { missing: string[] };

/** ministack 1.5.33 declares `Requires-Python: >=3.10`. */
const oldestVersion = [3, 10] as const;

/** The plain names come first. The others are for machines with an old system `python3` (macOS: 3.9). */
const candidates = [
  'python3',
  'python',
  'python3.14',
  'python3.13',
  'python3.12',
  'python3.11',
  'python3.10',
];

/** Debian and Ubuntu ship ensurepip, which `venv` needs, in a separate package (python3-venv). */
const describeScript = `
import importlib.util, json, platform, sys
missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
print(json.dumps({"executable": sys.executable, "version": platform.python_version(), "missing": missing}))
`;

/** Parses what the script printed. Undefined if it was not run by a Python that can run it. */
export const parseDescription = (output: string): DescribedPython | undefined => {
  let found: unknown;
  try {
    found = JSON.parse(output.trim());
  } catch {
    return undefined;
  }
  if (typeof found !== 'object' || found === null) return undefined;
  const { executable, version, missing } = found as Record<string, unknown>;
  if (typeof executable !== 'string' || typeof version !== 'string' || !Array.isArray(missing))
    return undefined;
  return { executable, version, missing: missing.filter((name) => typeof name === 'string') };
};

/** Whether a version such as `3.12.1` or `3.14.0rc2` is new enough for the emulator. */
export const isNewEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > oldestVersion[0] || (major === oldestVersion[0] && minor >= oldestVersion[1]);
};

/** The first usable Python, or a sentence that explains why none is. */
export const choosePython = (described: DescribedPython[]): Python | { problem: string } => {
  const usable = described.find((python) => isNewEnough(python.version) && python.missing.length === 0);
  if (usable) return { executable: usable.executable, version: usable.version };
  const incomplete = described.find((python) => isNewEnough(python.version));
  if (incomplete) {
    const modules = incomplete.missing.join(' and ');
    return {
      problem:
        `Python ${incomplete.version} at ${incomplete.executable} lacks ${modules}, which the emulator's ` +
        `private environment needs. Install it (on Debian and Ubuntu: apt install python3-venv), ${withoutPython}.`,
    };
  }
  const [old] = described;
  const found = old ? `only ${old.version}, at ${old.executable}, was found` : 'none was found on the PATH';
  return {
    problem: `The AWS emulator needs Python 3.10 or later, and ${found}. Install one, ${withoutPython}.`,
  };
};

/**
 * Finds a Python for the emulator on the PATH of `env`.
 *
 * @throws PythonMissing, which names what is missing and what to do
 */
export const findPython = async (env: Record<string, string | undefined>): Promise<Python> => {
  const described: DescribedPython[] = [];
  for (const candidate of candidates) {
    const python = await describePython(candidate, env);
    if (python) described.push(python);
    const choice = choosePython(described);
    if ('executable' in choice) return choice;
  }
  const choice = choosePython(described);
  if ('executable' in choice) return choice;
  throw new PythonMissing(choice.problem);
};

const describePython = async (
  command: string,
  env: Record<string, string | undefined>,
): Promise<DescribedPython | undefined> => {
  try {
    const { code, output } = await runCommand(command, ['-I', '-c', describeScript], {
      env,
      cwd: repository,
    });
    return code === 0 ? parseDescription(output) : undefined;
  } catch {
    // Not on the PATH, or not executable. The next candidate follows.
    return undefined;
  }
};
