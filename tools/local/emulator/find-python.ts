import * as v from 'valibot';
import { CliError } from '../../cli/terminal/errors.ts';
import { repository } from '../paths.ts';
import { runCommand } from '../run-command.ts';

/** The alternative to Python, at the end of sentences that report it missing. */
export const withoutPython =
  'or set AWS_ENDPOINT_URL to an emulator that you run yourself, for example MiniStack in a container ' +
  '(docker run --network host ministackorg/ministack, then AWS_ENDPOINT_URL=http://127.0.0.1:4566)';

/** The plain names come first. The others are for machines with an old system `python3` (macOS: 3.9). */
const candidates = ['python3', 'python', ...[14, 13, 12, 11, 10].map((minor) => `python3.${minor}`)];

/**
 * ministack 1.5.33 declares `Requires-Python: >=3.10`. Debian and Ubuntu ship ensurepip, which `venv` needs, in a separate
 * package (python3-venv).
 */
const describeScript = `
import importlib.util, json, platform, sys
missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
print(json.dumps({"executable": sys.executable, "version": platform.python_version(),
  "isOld": sys.version_info < (3, 10), "missing": missing}))
`;

const schema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ executable: v.string(), version: v.string(), isOld: v.boolean(), missing: v.array(v.string()) }),
);

/** A Python: the absolute path of its interpreter, and the standard modules that the emulator needs and it lacks. */
export type Python = v.InferOutput<typeof schema>;

/** Undefined if it is not on the PATH, not executable, or so old that it cannot run the script. */
const describePython = async (command: string): Promise<Python | undefined> => {
  const options = { env: process.env, cwd: repository };
  const ran = await runCommand(command, ['-I', '-c', describeScript], options).catch(() => undefined);
  const described = v.safeParse(schema, ran?.output);
  return described.success ? described.output : undefined;
};

/**
 * Finds a Python on the PATH that can create the emulator's environment.
 *
 * @throws CliError, which names what is missing and what to do
 */
export const findPython = async (describe = describePython): Promise<Python> => {
  const unusable: Python[] = [];
  for (const candidate of candidates) {
    const python = await describe(candidate);
    if (python === undefined) continue;
    if (!python.isOld && python.missing.length === 0) return python;
    unusable.push(python);
  }
  throw new CliError(problemOf(unusable));
};

const problemOf = (unusable: readonly Python[]): string => {
  const incomplete = unusable.find(({ isOld }) => !isOld);
  if (incomplete) {
    const modules = incomplete.missing.join(' and ');
    return (
      `Python ${incomplete.version} at ${incomplete.executable} lacks ${modules}, which the emulator's ` +
      `private environment needs. Install it (on Debian and Ubuntu: apt install python3-venv), ${withoutPython}.`
    );
  }
  const [old] = unusable;
  const found = old ? `only ${old.version}, at ${old.executable}, was found` : 'none was found on the PATH';
  return `The AWS emulator needs Python 3.10 or later, and ${found}. Install one, ${withoutPython}.`;
};
