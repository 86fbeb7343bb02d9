import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EmulatorFailed, PortTaken } from '../expected-failure.ts';
import { tail } from '../run-command.ts';
import { type AwsAccess, emulatorBase } from './aws-environment.ts';
import { makeCertificate, trustCertificate } from './certificate.ts';
import { preparePython } from './python-environment.ts';

export type EmulatorOptions = {
  /** Enforce IAM everywhere, over HTTPS (the CDK staging bucket and `enforceSSL` deny plain HTTP). */
  auth: boolean;
  /** An existing directory of this run, for its log and temporary files. */
  directory: string;
  /** The port to serve on. Any free one if omitted. */
  port?: number;
  /** Further environment variables, which its Lambda functions inherit. */
  env?: Record<string, string>;
  /** How long a stop waits before it kills the emulator, in milliseconds; default 2,000. */
  stopGraceMs?: number;
  /** Called if its packages have to be installed first. */
  onInstall?: () => void;
  /** Aborts the start, and an installation in progress. */
  signal?: AbortSignal;
};

type Launched = { access: AwsAccess; pid?: number; logFile: string; stop(): Promise<void> };

/** It starts in 2 to 3 s on 2 cores, and in half a minute where they are busy. Much more is a machine in trouble. */
const startDeadlineMs = 120_000;
/** The interval of polling its health, as no event reports that it has started. */
const healthEveryMs = 50;
/** How long one answer may take. */
const healthTimeoutMs = 10_000;
/** How long a stop waits before it kills the emulator. The emulator keeps everything in memory, so a kill loses nothing. */
const defaultStopGraceMs = 2_000;

/** @throws PythonMissing, PythonEnvironmentFailed, PortTaken, EmulatorFailed */
export const launchEmulator = async (options: EmulatorOptions): Promise<Launched> => {
  const { auth, directory, port: wanted = 0, env = {}, onInstall, signal } = options;
  const { stopGraceMs = defaultStopGraceMs } = options;
  const python = await preparePython({ ...(onInstall && { onInstall }), ...(signal && { signal }) });
  const temporary = await makeTemporaryDirectory(directory);
  const tls = auth ? await makeCertificate(python, directory) : undefined;
  const logFile = join(directory, 'emulator.log');
  const log = await open(logFile, 'a');
  const child = spawn(python, ['-I', join(import.meta.dirname, 'serve_emulator.py'), String(wanted)], {
    // Its own process group, so that its Lambda functions end with it. Ctrl-C in the terminal then reaches only this
    // process, which stops everything in order.
    detached: true,
    // Standard input stays open while this process lives (see serve_emulator.py). File descriptor 3 reports the port.
    stdio: ['pipe', log.fd, log.fd, 'pipe'],
    env: {
      ...emulatorBase(process.env),
      TMPDIR: temporary,
      IOT_MTLS_ENABLED: '0',
      ...(tls && {
        AUTH: 'true',
        USE_SSL: '1',
        MINISTACK_SSL_CERT: tls.certificate,
        MINISTACK_SSL_KEY: tls.key,
        NODE_EXTRA_CA_CERTS: tls.certificate,
      }),
      ...env,
    },
  });
  const spawned = once(child, 'spawn');
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopGroup(child, temporary, stopGraceMs);
    return stopped;
  };
  try {
    await Promise.all([spawned, log.close()]);
    const port = await readPort(child, wanted);
    if (tls) trustCertificate(tls.certificate);
    const endpoint = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    await waitForHealth(endpoint, child, logFile, signal);
    const access = {
      endpoint,
      region: 'us-east-1',
      accessKeyId: 'test',
      secretAccessKey: 'test',
      ...(tls && { caFile: tls.certificate }),
    };
    return { access, ...(child.pid !== undefined && { pid: child.pid }), logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * The emulator unpacks functions and its own worker, a CommonJS `_worker.js`, into this directory. The `"type": "module"`
 * of this repository would make them ES modules, which the worker does not survive. The package.json here prevents that.
 */
const makeTemporaryDirectory = async (directory: string): Promise<string> => {
  const temporary = join(directory, 'tmp');
  await mkdir(temporary, { recursive: true });
  await writeFile(join(temporary, 'package.json'), '{}\n');
  return temporary;
};

const readPort = async (child: ChildProcess, wanted: number): Promise<number> => {
  const reports = child.stdio[3] as Readable;
  let report = '';
  for await (const chunk of reports) report += String(chunk);
  report = report.trim();
  if (report === 'taken') {
    throw new PortTaken(
      `Port ${wanted} is in use. Choose another with --port, or omit it to use a free one.`,
    );
  }
  // Without a report, the process has ended, and waitForHealth throws the reason.
  return Number(report);
};

const waitForHealth = async (
  endpoint: string,
  child: ChildProcess,
  logFile: string,
  signal?: AbortSignal,
): Promise<void> => {
  const deadline = Date.now() + startDeadlineMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new EmulatorFailed(await withLog('The AWS emulator ended while it started', logFile));
    }
    const healthy = await isHealthy(endpoint);
    if (healthy) return;
    await delay(healthEveryMs, undefined, { ...(signal && { signal }) });
  }
  const seconds = startDeadlineMs / 1000;
  throw new EmulatorFailed(await withLog(`The AWS emulator did not start within ${seconds} s`, logFile));
};

const isHealthy = async (endpoint: string): Promise<boolean> => {
  try {
    const response = await fetch(`${endpoint}/_ministack/health`, {
      signal: AbortSignal.timeout(healthTimeoutMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

const withLog = async (problem: string, logFile: string): Promise<string> => {
  const log = await readFile(logFile, 'utf8');
  return `${problem}. Its log, ${logFile}, ends with\n${tail(log, 12) || '  (nothing)'}`;
};

const stopGroup = async (child: ChildProcess, temporary: string, graceMs: number): Promise<void> => {
  const { pid } = child;
  if (pid !== undefined) {
    const running = child.exitCode === null && child.signalCode === null;
    const ended = running ? once(child, 'exit') : Promise.resolve();
    signalGroup(pid, 'SIGTERM');
    await Promise.race([ended, delay(graceMs, undefined, { ref: false })]);
    signalGroup(pid, 'SIGKILL');
    await ended;
  }
  await rm(temporary, { recursive: true, force: true });
};

const signalGroup = (group: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // ESRCH: the group has no process any more. EPERM: macOS returns it for a group of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
};
