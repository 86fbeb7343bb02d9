import { inject } from 'vitest';
import { trustCertificate } from '../../../tools/local/emulator/launch-emulator.ts';

trustCertificate(inject('cosecha').caFile);
