import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/**
 * Lets this thread's fetch and AWS SDK clients trust the emulator's certificate. NODE_EXTRA_CA_CERTS cannot do that
 * here: Node reads it once, as it starts, and the certificate is made later.
 */
export const trustCertificate = (caFile: string): void => {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(caFile, 'utf8')]);
};
