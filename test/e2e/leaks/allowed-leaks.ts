import type { Leak } from './search.ts';
import type { Location } from './searched-item.ts';
import type { Secret } from './secret.ts';

type Allowed = {
  readonly kinds: readonly Secret['kind'][];
  readonly location: Location;
  /** The item's name: of a table, a bucket, a file. */
  readonly name: RegExp;
  readonly reason: string;
};

const keys: readonly Secret['kind'][] = ['API key', 'signing key', 'fingerprint key'];

/** Where the id of an erased extraction stays (docs/erasure.md): not in the bucket, and in no table but Erasures. */
const keepsErased = ({ location, name }: Pick<Leak, 'location' | 'name'>): boolean =>
  location !== 'bucket' && (location !== 'table' || /Erasures/.test(name));

/** A record names its consent, and so do answers and results. Neither a log nor a history nor a metric does. */
const namesConsent = ({ location, name }: Pick<Leak, 'location' | 'name'>): boolean =>
  !['log group', 'execution', 'queue'].includes(location) && name !== 'cloudwatch.json';

/** The only locations where a secret may be found. */
const allowed: readonly Allowed[] = [
  {
    kinds: ['result', 'username'],
    location: 'bucket',
    name: /^[^/]*results[^/]*\//,
    reason: 'Results are stored there as the provider sent them, with the username.',
  },
  {
    kinds: ['callback token'],
    location: 'table',
    name: /Tasks|StartLine/,
    reason:
      'start-task stores it in Tasks, and the machine that of a wait in StartLine (design, sections 4 and 5).',
  },
  {
    kinds: ['MAC of credentials'],
    location: 'table',
    name: /Tasks|Refusals/,
    reason:
      'The link stores it in Tasks, and a refusal in Refusals (SECURITY.md, "What is derived from credentials").',
  },
  {
    kinds: ['sealed request'],
    location: 'table',
    name: /Requests/,
    reason: 'request-extraction stores it there until it has been used (design, section 6).',
  },
  {
    kinds: ['OTP or Task Token'],
    location: 'answer',
    name: /^POST \/consent-sessions 201$/,
    reason: 'The caller requested the OTP token.',
  },
  {
    kinds: ['address of a PDF'],
    location: 'answer',
    name: /^GET \/consents\/\{consentId\}\/pdf 200$/,
    reason: 'The caller requested it.',
  },
  {
    kinds: keys,
    location: "the emulator's state",
    name: /^secretsmanager\.json$/,
    reason: 'The saved state of Secrets Manager.',
  },
  {
    kinds: ['callback token', 'MAC of credentials', 'sealed request'],
    location: "the emulator's state",
    name: /^dynamodb\.json$/,
    reason: 'The saved state of the tables Tasks, Refusals and Requests.',
  },
];

export const isAllowed = ({ location, name, kind }: Leak): boolean =>
  (kind === 'erased extraction' && keepsErased({ location, name })) ||
  (kind === 'consent id' && namesConsent({ location, name })) ||
  allowed.some((one) => one.location === location && one.name.test(name) && one.kinds.includes(kind));
