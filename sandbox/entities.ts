/** "Entity types" of the API document. */
export const ENTITY_TYPES = ['bank', 'business-bank', 'government', 'service', 'afp', 'exchange'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** The entity of the presets `disabledSantander` and `disabledSantanderTef`. */
export const PRESET_ENTITY_ID = 'santander';

/**
 * The document does not show the catalogue. These are an invented entity of each type, the entity of the presets, and a
 * bank without transfers. Each documented product belongs to at least one.
 */
const catalogue = [
  {
    id: 'demo-bank',
    name: 'Demo Bank',
    type: 'bank',
    actionTypes: [
      'movement',
      'product-balance',
      'tef',
      'product-balance-investment',
      'pat',
      'pac',
      'transfer',
      'consumer-loan',
      'mortgage',
      'investment-report',
      'credit-card-unbilled-transaction',
      'credit-card-statement',
      'account-balance',
      'personal-information',
    ],
  },
  {
    id: PRESET_ENTITY_ID,
    name: 'Santander',
    type: 'bank',
    actionTypes: ['movement', 'product-balance', 'tef'],
  },
  {
    id: 'demo-savings-bank',
    name: 'Demo Savings Bank',
    type: 'bank',
    actionTypes: ['movement', 'product-balance'],
  },
  {
    id: 'demo-business-bank',
    name: 'Demo Business Bank',
    type: 'business-bank',
    actionTypes: ['movement', 'product-balance', 'tef', 'financial-report'],
  },
  {
    id: 'demo-government',
    name: 'Demo Government',
    type: 'government',
    actionTypes: [
      'identity-validation',
      'identity-validation-clave-unica',
      'income-report',
      'tax-folder',
      'tax-folder-pdf',
      'tax-folder-clave-unica',
      'tax-folder-pdf-clave-unica',
      'property-tax',
      'property-tax-clave-unica',
      'dte',
      'dte-clave-unica',
      'sworn-declaration',
      'sworn-declaration-clave-unica',
      'tax-situation',
      'fiscal-statement',
      'fiscal-statement-clave-unica',
      'birth-certificate',
    ],
  },
  {
    id: 'demo-service',
    name: 'Demo Service',
    type: 'service',
    actionTypes: ['bill', 'debt', 'insurance', 'consolidate'],
  },
  { id: 'demo-afp', name: 'Demo AFP', type: 'afp', actionTypes: ['contribution', 'job', 'balances'] },
  { id: 'demo-exchange', name: 'Demo Exchange', type: 'exchange', actionTypes: ['balances'] },
] as const;

/** ProductType of the document ("Product identifiers"). */
export type Product = (typeof catalogue)[number]['actionTypes'][number];

export type Entity = {
  readonly id: string;
  readonly name: string;
  readonly type: EntityType;
  /** The types of its legacy actions `<entity_id>:<action_type>`. */
  readonly actionTypes: readonly Product[];
};
export const ENTITIES: readonly Entity[] = catalogue;

export const PRODUCTS = [...new Set(ENTITIES.flatMap(({ actionTypes }) => actionTypes))];

export const entityOf = (id: string): Entity | undefined => ENTITIES.find((entity) => entity.id === id);

/** Whether an entity has a product. An entity that is not listed has every product. */
export const hasProduct = (entityId: string, product: string): boolean =>
  entityOf(entityId)?.actionTypes.some((actionType) => actionType === product) ?? true;
