import { newNationalId } from '../../sandbox/consents/national-id.ts';
import { secret } from './secrets.ts';

/** A national id that no other test has, as `12345678-5`. The provider's plans for consents are by national id. */
export const uniqueNationalId = (): string => secret('national id', newNationalId());
