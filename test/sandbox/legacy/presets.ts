import { withDots } from '../consents/national-id.ts';
import { ENTITIES, type Entity, PRESET_ENTITY_ID } from '../entities.ts';
import { accountFrom } from '../results/build-results.ts';

/** The values of `responseType` ("Sandbox behaviours" and "Errors"), a table for each route. */

/** POST /api/v1/tasks: HTTP status and text. */
export const START_PRESETS = {
  jwtExpired: { status: 401, text: 'Jwt is expired' },
  temporarilyRestricted: {
    status: 403,
    text: 'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
  },
  forbidden: { status: 403, text: "You don't have sufficient permissions to perform this action" },
  processAlreadyRunning: { status: 429, text: 'Another request for this user is currently running' },
  notEnoughCredits: { status: 429, text: 'Request monthly quota reached (applies only to free plans)' },
} as const;
export type StartPreset = keyof typeof START_PRESETS;

export const START_PRESET_NAMES = Object.keys(START_PRESETS) as readonly StartPreset[];

export const isStartPreset = (name: string): name is StartPreset => Object.hasOwn(START_PRESETS, name);

export type LegacyAnswer = {
  readonly taskStatus: string;
  readonly taskStatusCode: number;
  readonly results?: unknown;
};

/** The user and entity of results. */
export type Whose = {
  readonly username: string;
  readonly asked: { readonly entityId: string };
};

/** GET /api/v1/tasks/{taskId}: all with HTTP 200. */
export const READ_PRESETS = new Map<string, (owner: Whose) => LegacyAnswer>([
  ['successWrongLoginResults', () => ({ taskStatus: 'wrong_login', taskStatusCode: 401, results: {} })],
  ['successLockedResults', () => ({ taskStatus: 'locked', taskStatusCode: 401, results: {} })],
  ['successErrorResults', () => ({ taskStatus: 'error', taskStatusCode: 500, results: {} })],
  ['successEmptyResults', (owner) => success(owner, [])],
  [
    'successEmptyAlias',
    (owner) =>
      success(
        owner,
        recipients().map((item) => ({ ...item, alias: '' })),
      ),
  ],
  [
    'tefWithValidRutWrongFormat',
    (owner) =>
      success(
        owner,
        recipients().map((item) => ({ ...item, rut: item.rut.replace(/[.-]/g, '') })),
      ),
  ],
  [
    'tefWithInvalidRut',
    (owner) =>
      success(
        owner,
        recipients().map((item) => ({ ...item, rut: otherCheckDigit(item.rut) })),
      ),
  ],
  [
    'tefWithEmptyRut',
    (owner) =>
      success(
        owner,
        recipients()
          .slice(0, 1)
          .map((item) => ({ ...item, rut: '' })),
      ),
  ],
]);

/** GET /api/v1/entities: both with HTTP 200. */
export const ENTITIES_PRESETS = new Map<string, () => EntityItem[]>([
  ['disabledSantander', () => entityItems((item) => ({ ...item, enabled: false }))],
  [
    'disabledSantanderTef',
    () =>
      entityItems((item) => ({
        ...item,
        actions: item.actions.map((action) =>
          action.actionType === 'tef' ? { ...action, enabled: false } : action,
        ),
      })),
  ],
]);

/** POST /api/v1/users/status/by-entity: the status of a user who is locked out, HTTP 200. */
export const DISABLED_USERNAME = 'disabledUsername';

export const success = ({ username, asked: { entityId } }: Whose, data: unknown): LegacyAnswer => ({
  taskStatus: 'success',
  taskStatusCode: 200,
  results: { username, entityId, data },
});

const entityItems = (alter: (item: EntityItem) => EntityItem): EntityItem[] =>
  ENTITIES.map((entity) => {
    const item = entityItem(entity);
    return entity.id === PRESET_ENTITY_ID ? alter(item) : item;
  });

/** A wrong check digit: the id keeps its format and fails validation. */
const otherCheckDigit = (rut: string): string => `${rut.slice(0, -1)}${rut.endsWith('1') ? '2' : '1'}`;

/** "Entity listing item". */
export const entityItem = ({ id, name, actionTypes }: Entity) => ({
  name,
  id,
  enabled: true,
  actions: actionTypes.map((actionType) => ({ name: `${id}:${actionType}`, actionType, enabled: true })),
});
type EntityItem = ReturnType<typeof entityItem>;

/** "Sandbox TEF recipient item": two invented ones, with valid national ids. */
export const recipients = () =>
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
