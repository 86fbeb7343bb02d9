import { inject } from 'vitest';
import { trustCertificate } from '../../../infra/local/trust-certificate.ts';

trustCertificate(inject('cosecha').caFile);
