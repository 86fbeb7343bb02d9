import { withDots } from '../consents/national-id.ts';
import { accountFrom } from '../results/synthetic.ts';

/** "Sandbox TEF recipient item". */
export type Recipient = {
  readonly name: string;
  readonly rut: string;
  readonly bankName: string;
  readonly bankCode: string;
  readonly accountNumber: string;
  readonly accountType: string;
  readonly email: string;
  readonly alias: string;
};

/** Two invented recipients, with valid national ids. */
export const recipients = (): readonly Recipient[] =>
  ['11111111-1', '22222222-2'].map((nationalId, index) => ({
    name: `Recipient ${index + 1}`,
    rut: withDots(nationalId),
    bankName: 'Demo Bank',
    bankCode: '001',
    accountNumber: accountFrom(nationalId),
    accountType: 'checking',
    email: `recipient-${index + 1}@example.com`,
    alias: `alias ${index + 1}`,
  }));
