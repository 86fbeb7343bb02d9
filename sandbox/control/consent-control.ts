import type { Hono } from 'hono';
import * as v from 'valibot';
import { authorizeConsent, createConsent, setSubStatus } from '../consents/consent-state.ts';
import { NationalIdSchema } from '../consents/national-id.ts';
import { ENTITIES, type Entity, entityOf, PRODUCTS } from '../entities.ts';
import { type Consent, type Sandbox, SUB_STATUSES } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { clientOf } from './client-control.ts';
import { found, matching, readBody } from './read-body.ts';
import { consentView } from './views.ts';

const products = v.pipe(v.array(v.picklist(PRODUCTS)), v.minLength(1));
const entityId = v.picklist(ENTITIES.map(({ id }) => id));
const shownInstead = v.strictObject({
  status: v.exactOptional(v.string()),
  subStatus: v.exactOptional(v.nullable(v.string())),
});
const changes = {
  subStatus: v.exactOptional(v.picklist(SUB_STATUSES)),
  validForSeconds: v.exactOptional(v.pipe(v.number(), v.minValue(0))),
  shown: v.exactOptional(shownInstead),
  listed: v.exactOptional(shownInstead),
  ends: v.exactOptional(
    v.strictObject({
      subStatus: v.picklist(SUB_STATUSES),
      afterCalls: v.pipe(v.number(), v.integer(), v.minValue(0)),
    }),
  ),
};
const CreateSchema = v.strictObject({
  owner: NationalIdSchema,
  products,
  entityId: v.exactOptional(entityId),
  clientId: v.exactOptional(v.string()),
  ...changes,
});
const AlterSchema = v.strictObject({ products: v.exactOptional(products), ...changes });
const AuthorizeSchema = v.strictObject({
  products: v.exactOptional(products),
  entityId: v.exactOptional(entityId),
});

export type ConsentInput = v.InferInput<typeof CreateSchema>;
export type ConsentChanges = v.InferInput<typeof AlterSchema>;
export type Authorization = v.InferInput<typeof AuthorizeSchema>;

/** Creates consents without a consent page, and sets them to any state. */
export const addConsentControl = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  const view = (consent: Consent) => consentView(consent, sandbox.clock.now());
  const named = (consentId: string) => found(sandbox.consents.get(consentId), 'consent');

  app.get('/consents', (c) => c.json(matching(sandbox.consents.values(), c, 'owner').map(view)));

  app.get('/consents/:consentId', (c) => c.json(view(named(c.req.param('consentId')))));

  app.post('/consents', async (c) => {
    const input = await readBody(c, CreateSchema);
    const { clientId } = clientOf(sandbox, input.clientId);
    const consent = createConsent(sandbox, {
      clientId,
      owner: input.owner,
      locale: 'es-CL',
      entityTypes: undefined,
      products: input.products,
    });
    authorizeConsent(sandbox, consent, entityNamed(input.entityId, consent), input.products);
    alter(sandbox, consent, input);
    return c.json(view(consent));
  });

  app.post('/consents/:consentId/authorize', async (c) => {
    const consent = named(c.req.param('consentId'));
    const input = await readBody(c, AuthorizeSchema);
    const entity = entityNamed(input.entityId, consent);
    authorizeConsent(sandbox, consent, entity, input.products ?? consent.products);
    return c.json(view(consent));
  });

  app.patch('/consents/:consentId', async (c) => {
    const consent = named(c.req.param('consentId'));
    alter(sandbox, consent, await readBody(c, AlterSchema));
    return c.json(view(consent));
  });
};

const alter = (sandbox: Sandbox, consent: Consent, change: v.InferOutput<typeof AlterSchema>): void => {
  const now = sandbox.clock.now();
  consent.products = change.products ?? consent.products;
  consent.shown = change.shown ?? consent.shown;
  consent.listed = change.listed ?? consent.listed;
  if (change.validForSeconds !== undefined) consent.validUntil = now + change.validForSeconds * 1000;
  if (change.subStatus !== undefined) setSubStatus(consent, change.subStatus, now);
  const { ends } = change;
  if (ends !== undefined) consent.ends = { subStatus: ends.subStatus, callsLeft: ends.afterCalls };
};

const entityNamed = (id: string | undefined, consent: Consent): Entity =>
  found(entityOf(id ?? consent.entity.id), 'entity');
