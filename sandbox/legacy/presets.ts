import { withDots } from '../consents/national-id.ts';
import { ENTITIES, type Entity, PRESET_ENTITY_ID } from '../entities.ts';
import { accountFrom } from '../results/build-results.ts';
import type { SandboxContext } from '../transport/hono-types.ts';
import { START_PRESETS, type StartPreset } from './start-presets.ts';

/** The values of `responseType` ("Sandbox behaviours" and "Errors"), a table for each route. */

/** "Response text": plain text, not JSON. */
export const presetAnswer = (c: SandboxContext, name: StartPreset): Response => {
  const { status, text } = START_PRESETS[name];
  return c.text(text, status);
};

export type LegacyAnswer = {
  readonly taskStatus: string;
  readonly taskStatusCode: number;
  readonly results?: unknown;
};

/** The ends of a legacy task without data ("v1 legacy task statuses"). All answers of a read have HTTP 200. */
export const WRONG_LOGIN: LegacyAnswer = { taskStatus: 'wrong_login', taskStatusCode: 401, results: {} };
export const LOCKED: LegacyAnswer = { taskStatus: 'locked', taskStatusCode: 401, results: {} };
export const ERROR: LegacyAnswer = { taskStatus: 'error', taskStatusCode: 500, results: {} };

/** The user and entity of results. */
type Whose = {
  readonly username: string;
  readonly asked: { readonly entityId: string };
};

export const success = ({ username, asked: { entityId } }: Whose, data: unknown): LegacyAnswer => ({
  taskStatus: 'success',
  taskStatusCode: 200,
  results: { username, entityId, data },
});

/** Successful, with recipients that have other fields. */
const successWith =
  (changed: (item: Recipient) => Partial<Recipient>) =>
  (owner: Whose): LegacyAnswer =>
    success(
      owner,
      recipients().map((item) => ({ ...item, ...changed(item) })),
    );

/** GET /api/v1/tasks/{taskId}. */
export const READ_PRESETS = new Map<string, (owner: Whose) => LegacyAnswer>([
  ['successWrongLoginResults', () => WRONG_LOGIN],
  ['successLockedResults', () => LOCKED],
  ['successErrorResults', () => ERROR],
  ['successEmptyResults', (owner) => success(owner, [])],
  ['successEmptyAlias', successWith(() => ({ alias: '' }))],
  ['tefWithValidRutWrongFormat', successWith(({ rut }) => ({ rut: rut.replace(/[.-]/g, '') }))],
  ['tefWithInvalidRut', successWith(({ rut }) => ({ rut: otherCheckDigit(rut) }))],
  ['tefWithEmptyRut', successWith(() => ({ rut: '' }))],
]);

/** A wrong check digit: the id keeps its format and fails validation. */
const otherCheckDigit = (rut: string): string => `${rut.slice(0, -1)}${rut.endsWith('1') ? '2' : '1'}`;

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
type Recipient = ReturnType<typeof recipients>[number];

/** GET /api/v1/entities: both with HTTP 200. */
export const ENTITIES_PRESETS = new Map<string, () => EntityItem[]>([
  ['disabledSantander', () => entityItems((item) => ({ ...item, enabled: false }))],
  [
    'disabledSantanderTef',
    () =>
      entityItems((item) => ({
        ...item,
        actions: item.actions.map((action) => ({ ...action, enabled: action.actionType !== 'tef' })),
      })),
  ],
]);

/** The listing. `alter` changes the entity of the presets. */
export const entityItems = (alter = (item: EntityItem) => item): EntityItem[] =>
  ENTITIES.map((entity) => (entity.id === PRESET_ENTITY_ID ? alter(entityItem(entity)) : entityItem(entity)));

/** "Entity listing item". */
const entityItem = ({ id, name, actionTypes }: Entity) => ({
  name,
  id,
  enabled: true,
  actions: actionTypes.map((actionType) => ({ name: `${id}:${actionType}`, actionType, enabled: true })),
});
type EntityItem = ReturnType<typeof entityItem>;
