import { inject } from 'vitest';
import { trustCertificate } from '../../../infra/local/emulator/trust-certificate.ts';

trustCertificate(inject('cosecha').caFile);
