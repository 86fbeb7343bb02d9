import type { Product } from './product-vocabulary.ts';

/** "Entity types" of the document. */
export const ENTITY_TYPES = ['bank', 'business-bank', 'government', 'service', 'afp', 'exchange'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly type: EntityType;
  /** What its legacy actions are, `<entity_id>:<action_type>`. */
  readonly actionTypes: readonly Product[];
}

/** The entity that the presets `disabledSantander` and `disabledSantanderTef` are about. */
export const PRESET_ENTITY_ID = 'santander';

/** The catalogue is "not shown": one made-up entity of each type, and the one that the presets name. */
export const ENTITIES: readonly Entity[] = [
  {
    id: 'demo-bank',
    name: 'Demo Bank',
    type: 'bank',
    actionTypes: ['movement', 'product-balance', 'tef', 'credit-card-statement'],
  },
  {
    id: PRESET_ENTITY_ID,
    name: 'Santander',
    type: 'bank',
    actionTypes: ['movement', 'product-balance', 'tef'],
  },
  {
    id: 'demo-business-bank',
    name: 'Demo Business Bank',
    type: 'business-bank',
    actionTypes: ['movement', 'product-balance', 'tef'],
  },
  {
    id: 'demo-government',
    name: 'Demo Government',
    type: 'government',
    actionTypes: ['tax-folder', 'tax-situation', 'birth-certificate'],
  },
  { id: 'demo-service', name: 'Demo Service', type: 'service', actionTypes: ['bill', 'debt'] },
  { id: 'demo-afp', name: 'Demo AFP', type: 'afp', actionTypes: ['contribution', 'balances'] },
  { id: 'demo-exchange', name: 'Demo Exchange', type: 'exchange', actionTypes: ['balances'] },
];

export function entityOf(id: string): Entity | undefined {
  return ENTITIES.find((entity) => entity.id === id);
}
