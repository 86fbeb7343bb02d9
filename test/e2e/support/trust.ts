import { inject } from 'vitest';
import { trustCertificate } from '../../../infra/local/emulator/certificate.ts';

trustCertificate(inject('cosecha').caFile);
