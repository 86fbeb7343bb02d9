import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EmulatorFailed, PortTaken } from '../expected-failure.ts';
import { runCommand, tail } from '../run-command.ts';
import { type AwsAccess, emulatorBase } from './aws-environment.ts';
import { preparePython } from './python-environment.ts';
import { trustCertificate } from './trust-certificate.ts';

export type EmulatorOptions = {
  /** Enforce IAM everywhere, over HTTPS (the CDK staging bucket and `enforceSSL` deny plain HTTP). */
  auth: boolean;
  /** An existing directory of this run, for its log and its temporary files. */
  directory: string;
  /** A port to serve on; any free one otherwise. */
  port?: number;
  /** More environment for it, which its Lambdas inherit. */
  env?: Record<string, string>;
  /** How long it may take to end by itself, in milliseconds; default 2,000. */
  stopGraceMs?: number;
  /** Called where its packages have to be installed first. */
  onInstall?: () => void;
  /** Aborts the start, with an installation that is going on. */
  signal?: AbortSignal;
};

type Launched = { access: AwsAccess; pid?: number; logFile: string; stop(): Promise<void> };

/** It is up in 2 to 3 s on 2 cores; ten times that is a machine in trouble. */
const startDeadlineMs = 30_000;
/** The poll of its health: no event says that it is up. */
const healthEveryMs = 50;
/** How long it may take to end by itself. It holds everything in memory, so nothing is lost by the kill after it. */
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
    // A process group of its own, so that its Lambdas end with it, and Ctrl-C in the terminal reaches only us, who
    // then stop things in order.
    detached: true,
    // Standard input stays open as long as we live (see serve_emulator.py); 3 tells the port.
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
 * The emulator unpacks functions and its own worker, a CommonJS `_worker.js`, under it. Being inside this repository,
 * they would be ES modules by the `"type": "module"` above them, and the worker would die; so this one says otherwise.
 */
const makeTemporaryDirectory = async (directory: string): Promise<string> => {
  const temporary = join(directory, 'tmp');
  await mkdir(temporary, { recursive: true });
  await writeFile(join(temporary, 'package.json'), '{}\n');
  return temporary;
};

const makeCertificate = async (
  python: string,
  directory: string,
): Promise<{ certificate: string; key: string }> => {
  const certificate = join(directory, 'emulator.crt');
  const key = join(directory, 'emulator.key');
  const script = join(import.meta.dirname, 'make_certificate.py');
  const env = emulatorBase(process.env);
  const { code, output } = await runCommand(python, ['-I', script, certificate, key], {
    env,
    cwd: directory,
  });
  if (code === 0) return { certificate, key };
  throw new EmulatorFailed(
    `The emulator's certificate could not be made: delete .cosecha/ and try again.\n${tail(output, 8)}`,
  );
};

const readPort = async (child: ChildProcess, wanted: number): Promise<number> => {
  const reports = child.stdio[3] as Readable;
  let word = '';
  for await (const chunk of reports) word += String(chunk);
  word = word.trim();
  if (word === 'taken') {
    throw new PortTaken(
      `Port ${wanted} is in use: choose another with --port, or leave it out to get a free one.`,
    );
  }
  // Nothing came: it died before that; the wait for its health says why.
  return Number(word);
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
      throw new EmulatorFailed(await withLog('The AWS emulator ended as it started', logFile));
    }
    const healthy = await isHealthy(endpoint);
    if (healthy) return;
    await delay(healthEveryMs, undefined, { ...(signal && { signal }) });
  }
  const seconds = startDeadlineMs / 1000;
  throw new EmulatorFailed(await withLog(`The AWS emulator did not come up in ${seconds} s`, logFile));
};

const isHealthy = async (endpoint: string): Promise<boolean> => {
  try {
    const response = await fetch(`${endpoint}/_ministack/health`, { signal: AbortSignal.timeout(1_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

const withLog = async (problem: string, logFile: string): Promise<string> => {
  const log = await readFile(logFile, 'utf8');
  return `${problem}: its log, ${logFile}, ends with\n${tail(log, 12) || '  (nothing)'}`;
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
    // ESRCH: nobody is left in it. EPERM is what macOS says of a group of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
};
