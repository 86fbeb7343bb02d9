import { inject } from 'vitest';
import { trustCertificate } from '../../../tools/local/emulator/certificate.ts';

trustCertificate(inject('cosecha').caFile);
