import { execFileSync } from 'node:child_process';

/** A key and a self-signed certificate for 127.0.0.1, made by the openssl command. */
export const selfSignedCertificate = (): { readonly key: string; readonly cert: string } => {
  const args = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -keyout - -out -';
  const pem = execFileSync(
    'openssl',
    [...args.split(' '), '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
    { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' },
  );
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----');
  return { key: pem.slice(0, at), cert: pem.slice(at) };
};
