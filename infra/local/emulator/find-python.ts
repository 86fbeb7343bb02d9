import { PythonMissing } from '../expected-failure.ts';
import { repository } from '../paths.ts';
import { runCommand } from '../run-command.ts';
import { withoutPython } from './without-python.ts';

/** A Python that can make the emulator's environment: absolute path of the interpreter, and its version. */
export type Python = { executable: string; version: string };

/** What a candidate said of itself. `missing` names the standard modules that its distribution left out. */
export type PythonProbe = Python & { missing: string[] };

/** ministack 1.5.33 declares `Requires-Python: >=3.10`. */
const oldestVersion = [3, 10] as const;

/** The plain names first; the others for machines whose `python3` is an old one of the system's (macOS: 3.9). */
const candidates = [
  'python3',
  'python',
  'python3.14',
  'python3.13',
  'python3.12',
  'python3.11',
  'python3.10',
];

/** Debian and Ubuntu put ensurepip, which `venv` needs, in a package of its own (python3-venv). */
const probeScript = `
import importlib.util, json, platform, sys
missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
print(json.dumps({"executable": sys.executable, "version": platform.python_version(), "missing": missing}))
`;

/** What a candidate printed, or undefined where it is no Python, or one too old to run the probe. */
export const parseProbe = (output: string): PythonProbe | undefined => {
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

/** The first Python that will do, or the sentence that says why none does. */
export const choosePython = (probes: PythonProbe[]): Python | { problem: string } => {
  const usable = probes.find((probe) => isNewEnough(probe.version) && probe.missing.length === 0);
  if (usable) return { executable: usable.executable, version: usable.version };
  const incomplete = probes.find((probe) => isNewEnough(probe.version));
  if (incomplete) {
    const modules = incomplete.missing.join(' and ');
    return {
      problem:
        `Python ${incomplete.version} at ${incomplete.executable} comes without ${modules}, which the emulator's ` +
        `private environment needs: install it (on Debian and Ubuntu: apt install python3-venv), ${withoutPython}.`,
    };
  }
  const [old] = probes;
  const found = old ? `only ${old.version}, at ${old.executable}, was found` : 'none was found on the PATH';
  return {
    problem: `The AWS emulator needs Python 3.10 or later, and ${found}: install one, ${withoutPython}.`,
  };
};

/**
 * Finds a Python for the emulator on the PATH of `env`.
 *
 * @throws PythonMissing with what is missing and what to do.
 */
export const findPython = async (env: Record<string, string | undefined>): Promise<Python> => {
  const probes: PythonProbe[] = [];
  for (const candidate of candidates) {
    const probe = await probePython(candidate, env);
    if (probe) probes.push(probe);
    const choice = choosePython(probes);
    if ('executable' in choice) return choice;
  }
  const choice = choosePython(probes);
  if ('executable' in choice) return choice;
  throw new PythonMissing(choice.problem);
};

const probePython = async (
  command: string,
  env: Record<string, string | undefined>,
): Promise<PythonProbe | undefined> => {
  try {
    const { code, output } = await runCommand(command, ['-I', '-c', probeScript], { env, cwd: repository });
    return code === 0 ? parseProbe(output) : undefined;
  } catch {
    // Not on the PATH, or not executable: the next candidate.
    return undefined;
  }
};
