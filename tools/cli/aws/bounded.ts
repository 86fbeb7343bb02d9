/** A part that was read only up to a limit is not `complete`. */
export type Bounded<Item> = { readonly items: readonly Item[]; readonly complete: boolean };
