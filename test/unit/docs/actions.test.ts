import { describe, expect, test } from 'vitest';
import { extractionRequestParser } from '#lib/extraction/api/parse-request.ts';
import { checkTaskRequest } from '#lib/provider/tasks/start-task.ts';
import { taskActions } from '#lib/provider/vocabulary.ts';
import { ACTION_IDS } from '../../../sandbox/task-vocabulary.ts';
import { synthesize } from '../infra/synth.ts';
import { openapi } from './openapi-document.ts';
import { read } from './pages.ts';

/** What the API accepts, what it starts, and what its documents describe, for actions with and without the setting `moreActions`. */
const parameters = { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } };
const actionsOf = (forms: Readonly<Record<string, string>>) =>
  Object.entries(forms).map(([id, params]) => (params === 'dateRange' ? { id, params: parameters } : { id }));
const requestOf = (...actions: readonly object[]) => ({
  entity: 'bank',
  credentials: { mode: 'persisted', value: 'x' },
  actions,
});
const schemaOf = (name: string) =>
  (JSON.parse(read(`docs/schemas/${name}`)) as typeof extractionSchema).$defs;
declare const extractionSchema: {
  readonly $defs: { readonly RequestedAction: { readonly properties: object } };
};

const idSchema = openapi.components.schemas.Action?.properties as unknown as {
  readonly id: { readonly description: string };
};

test('the listed actions are the same in vocabulary, parser, provider client, sandbox, openapi.yaml and api.md', () => {
  const listed = actionsOf(taskActions);
  const request = requestOf(...listed);
  expect(extractionRequestParser({})(request)).toMatchObject({ kind: 'valid', request });
  expect(() => checkTaskRequest(request)).not.toThrow();
  const ids = Object.keys(taskActions);
  expect([...ACTION_IDS].sort()).toEqual([...ids].sort());
  const { description: _description, ...schema } = idSchema.id;
  expect(schema).toEqual({ type: 'string', minLength: 1, maxLength: 50, 'x-extensible-enum': ids });
  const [row = ''] = read('docs/api.md').match(/^\| `actions` \|.*$/m) ?? [];
  expect(ids.filter((id) => !row.includes(`\`${id}\``))).toEqual([]);
});

describe('an action of the setting moreActions', () => {
  const settings = { moreActions: 'account-balance, credit-card-statement:dateRange' };
  const { template } = synthesize(settings);
  const { Variables } = Object.values(template.findResources('AWS::Lambda::Function')).flatMap(
    ({ Properties }) =>
      Properties.Environment?.Variables?.ACCEPTED_REQUESTS === undefined ? [] : [Properties.Environment],
  )[0] as { readonly Variables: { readonly ACCEPTED_REQUESTS: string } };
  const accepted = JSON.parse(Variables.ACCEPTED_REQUESTS) as Parameters<typeof extractionRequestParser>[0];
  const added = actionsOf(accepted.moreActions ?? {});

  test('is accepted at intake and started, with its own params only', () => {
    const request = requestOf(...added, ...actionsOf(taskActions));
    expect(added).toEqual([{ id: 'account-balance' }, { id: 'credit-card-statement', params: parameters }]);
    expect(extractionRequestParser(accepted)(request)).toMatchObject({ kind: 'valid', request });
    expect(() => checkTaskRequest(request)).not.toThrow();
    for (const wrong of [
      { id: 'account-balance', params: parameters },
      { id: 'credit-card-statement' },
      { id: 'constructor' },
    ]) {
      expect(extractionRequestParser(accepted)(requestOf(wrong)).kind).toBe('invalid');
    }
  });

  test('is refused without the setting', () => {
    expect(extractionRequestParser({})(requestOf(...added))).toMatchObject({
      violations: [{ pointer: '/actions/0/id' }, { pointer: '/actions/1/id' }],
    });
  });

  test('fits every published schema, as none closes the id', () => {
    for (const name of ['extraction.json', 'stream-record.json']) {
      expect(JSON.stringify(schemaOf(name).RequestedAction)).not.toMatch(/"(enum|const)":/);
    }
    expect(openapi.components.schemas.RequestedAction?.properties).toMatchObject({ id: { type: 'string' } });
  });
});
