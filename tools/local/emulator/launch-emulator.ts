import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { defined } from '../../../lib/defined.ts';
import { discardBody } from '../../cli/terminal/answer-body.ts';
import { CliError } from '../../cli/terminal/errors.ts';
import { tail } from '../run-command.ts';
import { type AwsAccess, emulatorBase } from './aws-environment.ts';
import { preparePython } from './python-environment.ts';

export type EmulatorOptions = {
  /** Enforce IAM everywhere, over HTTPS (the CDK staging bucket and `enforceSSL` deny plain HTTP). */
  auth: boolean;
  /** An existing directory of this run, for its log and temporary files. */
  directory: string;
  port?: number;
  /** Further environment variables, which its Lambda functions inherit. */
  env?: Record<string, string>;
  /** How long a stop waits before it kills the emulator, in milliseconds; default 2,000. */
  stopGraceMs?: number;
  /** Called if its packages have to be installed first. */
  onInstall?: () => void;
  signal?: AbortSignal;
};

type Launched = { access: AwsAccess; pid?: number; logFile: string; stop(): Promise<void> };

/** It starts in 2 to 3 s on 2 cores, and in half a minute where they are busy. Much more is a machine in trouble. */
const startDeadlineMs = 120_000;
/** The interval of polling its health, as no event reports that it has started. */
const healthEveryMs = 50;
const healthTimeoutMs = 10_000;
/** How long a stop waits before it kills the emulator. The emulator keeps everything in memory, so a kill loses nothing. */
const defaultStopGraceMs = 2_000;

export const launchEmulator = async (options: EmulatorOptions): Promise<Launched> => {
  const { auth, directory, port: wanted = 0, env = {}, onInstall, signal } = options;
  const { stopGraceMs = defaultStopGraceMs } = options;
  const python = await preparePython(defined({ onInstall, signal }));
  const temporary = await makeTemporaryDirectory(directory);
  const caFile = auth ? join(directory, 'emulator.crt') : undefined;
  const logFile = join(directory, 'emulator.log');
  const log = await open(logFile, 'a');
  const accessKeyId = randomKey();
  const child = spawn(python, ['-I', join(import.meta.dirname, 'serve_emulator.py'), String(wanted)], {
    // Its own process group, so that its Lambda functions end with it. Ctrl-C in the terminal then reaches only this
    // process, which stops everything in order.
    detached: true,
    // Standard input stays open while this process lives (see serve_emulator.py). File descriptor 3 reports the port.
    stdio: ['pipe', log.fd, log.fd, 'pipe'],
    env: {
      ...emulatorBase(process.env),
      TMPDIR: temporary,
      // Of its root. See serve_emulator.py.
      AWS_ACCESS_KEY_ID: accessKeyId,
      IOT_MTLS_ENABLED: '0',
      ...(caFile && {
        AUTH: 'true',
        USE_SSL: '1',
        MINISTACK_SSL_CERT: caFile,
        MINISTACK_SSL_KEY: join(directory, 'emulator.key'),
        NODE_EXTRA_CA_CERTS: caFile,
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
    const port = await readPort(child, wanted, logFile);
    if (caFile) trustCertificate(caFile);
    const endpoint = `${caFile ? 'https' : 'http'}://127.0.0.1:${port}`;
    await waitForHealth(endpoint, child, logFile, signal);
    const root = { region: 'us-east-1', accessKeyId, secretAccessKey: 'test' };
    const { pid } = child;
    return { access: { endpoint, ...root, ...defined({ caFile }) }, ...defined({ pid }), logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** An access key in the form of AWS's, with 128 random bits. */
const randomKey = (): string => `LOCAL${randomBytes(16).toString('hex').toUpperCase()}`;

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

/**
 * Lets fetch and AWS SDK clients of this thread trust the emulator's certificate. NODE_EXTRA_CA_CERTS has no effect here,
 * as Node reads it only when it starts.
 */
export const trustCertificate = (caFile: string): void => {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(caFile, 'utf8')]);
};

const readPort = async (child: ChildProcess, wanted: number, logFile: string): Promise<number> => {
  const report = (await text(child.stdio[3] as Readable)).trim();
  if (report === 'taken') {
    throw new CliError(`Port ${wanted} is in use. Choose another with --port, or omit it to use a free one.`);
  }
  if (report === '') throw new CliError(await withLog(endedEarly, logFile));
  return Number(report);
};

const endedEarly = 'The AWS emulator ended while it started';

const waitForHealth = async (
  endpoint: string,
  child: ChildProcess,
  logFile: string,
  signal?: AbortSignal,
): Promise<void> => {
  const deadline = Date.now() + startDeadlineMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new CliError(await withLog(endedEarly, logFile));
    }
    if (await isHealthy(endpoint)) return;
    await delay(healthEveryMs, undefined, defined({ signal }));
  }
  const seconds = startDeadlineMs / 1000;
  throw new CliError(await withLog(`The AWS emulator did not start within ${seconds} s`, logFile));
};

const isHealthy = async (endpoint: string): Promise<boolean> => {
  try {
    const response = await fetch(`${endpoint}/_ministack/health`, {
      signal: AbortSignal.timeout(healthTimeoutMs),
    });
    await discardBody(response);
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
