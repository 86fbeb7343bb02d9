import type { Entity } from '../entities.ts';

/** "Entity listing item". */
export type EntityItem = {
  readonly name: string;
  readonly id: string;
  readonly enabled: boolean;
  readonly actions: readonly {
    readonly name: string;
    readonly actionType: string;
    readonly enabled: boolean;
  }[];
};

export const entityItem = ({ id, name, actionTypes }: Entity): EntityItem => ({
  name,
  id,
  enabled: true,
  actions: actionTypes.map((actionType) => ({ name: `${id}:${actionType}`, actionType, enabled: true })),
});
