import { ENTITIES, type Entity, type EntityType } from '../entities.ts';

/** The entities that a user may choose from. Each type has one, so there is at least one. */
export const entitiesFor = (types: readonly EntityType[] | undefined): readonly [Entity, ...Entity[]] => {
  const [first, ...others] = ENTITIES.filter((entity) => types === undefined || types.includes(entity.type));
  if (first === undefined) throw new RangeError('No entity of the catalogue has one of these types');
  return [first, ...others];
};
