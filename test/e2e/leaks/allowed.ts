import type { Place } from './piece.ts';
import type { Leak } from './search.ts';
import type { Secret } from './secret.ts';

type Allowed = {
  readonly kinds: readonly Secret['kind'][];
  readonly place: Place;
  /** Of the piece: a table's, a secret's, a file's. */
  readonly name: RegExp;
  readonly why: string;
};

const keys: readonly Secret['kind'][] = ['API key', 'signing key', 'fingerprint key'];

/** Where secrets belong, and nowhere else. */
const allowed: readonly Allowed[] = [
  { kinds: ['API key'], place: 'secret', name: /\/provider-api-key$/, why: 'It is kept there.' },
  { kinds: ['signing key'], place: 'secret', name: /\/webhook-signing-key$/, why: 'It is kept there.' },
  { kinds: ['fingerprint key'], place: 'secret', name: /\/fingerprint-key$/, why: 'It is kept there.' },
  {
    kinds: ['result', 'username'],
    place: 'bucket',
    name: /^[^/]*results[^/]*\//,
    why: 'Results are kept there as the provider gave them, and they say whose they are.',
  },
  { kinds: ['callback token'], place: 'table', name: /Tasks/, why: 'The link of design, section 4.' },
  {
    kinds: ['OTP or Task Token'],
    place: 'answer',
    name: /^POST \/consent-sessions 201$/,
    why: 'The OTP token is what was asked for.',
  },
  {
    kinds: ['address of a PDF'],
    place: 'answer',
    name: /^GET \/consents\/\{consentId\}\/pdf 200$/,
    why: 'It is what was asked for.',
  },
  {
    kinds: keys,
    place: "the emulator's state",
    name: /^secretsmanager\.json$/,
    why: 'Secrets Manager, written down.',
  },
  {
    kinds: ['callback token'],
    place: "the emulator's state",
    name: /^dynamodb\.json$/,
    why: 'The table Tasks, written down.',
  },
];

export const isAllowed = ({ place, name, kind }: Leak): boolean =>
  allowed.some((one) => one.place === place && one.name.test(name) && one.kinds.includes(kind));
