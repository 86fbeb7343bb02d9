import { randomInt } from 'node:crypto';
import { nationalIdFrom } from '../../sandbox/consents/national-id.ts';
import { secret } from './secrets.ts';

/** A national id that no other test has, as `12345678-5`. The provider's plans for consents are by national id. */
export const uniqueNationalId = (): string => {
  const digits = String(randomInt(10_000_000, 100_000_000));
  const ids = [...'0123456789K'].flatMap((digit) => nationalIdFrom(`${digits}-${digit}`) ?? []);
  const [id] = ids;
  if (id === undefined) throw new Error('Every number has a check digit.');
  return secret('national id', id);
};
