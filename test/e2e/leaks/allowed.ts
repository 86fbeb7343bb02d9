import type { Leak } from './search.ts';
import type { Location } from './searched-item.ts';
import type { Secret } from './secret.ts';

type Allowed = {
  readonly kinds: readonly Secret['kind'][];
  readonly location: Location;
  /** Of the piece: a table's, a secret's, a file's. */
  readonly name: RegExp;
  readonly why: string;
};

const keys: readonly Secret['kind'][] = ['API key', 'signing key', 'fingerprint key'];

/** Where secrets belong, and nowhere else. */
const allowed: readonly Allowed[] = [
  { kinds: ['API key'], location: 'secret', name: /\/provider-api-key$/, why: 'It is kept there.' },
  { kinds: ['signing key'], location: 'secret', name: /\/webhook-signing-key$/, why: 'It is kept there.' },
  { kinds: ['fingerprint key'], location: 'secret', name: /\/fingerprint-key$/, why: 'It is kept there.' },
  {
    kinds: ['result', 'username'],
    location: 'bucket',
    name: /^[^/]*results[^/]*\//,
    why: 'Results are kept there as the provider gave them, and they say whose they are.',
  },
  { kinds: ['callback token'], location: 'table', name: /Tasks/, why: 'The link of design, section 4.' },
  {
    kinds: ['OTP or Task Token'],
    location: 'answer',
    name: /^POST \/consent-sessions 201$/,
    why: 'The OTP token is what was asked for.',
  },
  {
    kinds: ['address of a PDF'],
    location: 'answer',
    name: /^GET \/consents\/\{consentId\}\/pdf 200$/,
    why: 'It is what was asked for.',
  },
  {
    kinds: keys,
    location: "the emulator's state",
    name: /^secretsmanager\.json$/,
    why: 'Secrets Manager, written down.',
  },
  {
    kinds: ['callback token'],
    location: "the emulator's state",
    name: /^dynamodb\.json$/,
    why: 'The table Tasks, written down.',
  },
];

export const isAllowed = ({ location, name, kind }: Leak): boolean =>
  allowed.some((one) => one.location === location && one.name.test(name) && one.kinds.includes(kind));
