import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { EmulatorFailed } from '../expected-failure.ts';
import { runCommand, tail } from '../run-command.ts';
import { emulatorBase } from './aws-environment.ts';

/**
 * Writes a new key and a self-signed certificate for 127.0.0.1 into `directory`, and returns their paths.
 *
 * @throws EmulatorFailed
 */
export const makeCertificate = async (
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
    `The emulator's certificate could not be created. Delete .cosecha/ and try again.\n${tail(output, 8)}`,
  );
};

/**
 * Lets fetch and AWS SDK clients of this thread trust the emulator's certificate. NODE_EXTRA_CA_CERTS has no effect here,
 * as Node reads it only when it starts.
 */
export const trustCertificate = (caFile: string): void => {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(caFile, 'utf8')]);
};
