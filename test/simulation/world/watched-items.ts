/** The items of a table, with a callback for every write, and one for every removal of an item that was there. */
export class WatchedItems<Item> extends Map<string, Item> {
  readonly #written: (before: Item | undefined, after: Item) => void;
  readonly #removed: (item: Item) => void;

  constructor(
    written: (before: Item | undefined, after: Item) => void,
    removed: (item: Item) => void = () => undefined,
  ) {
    super();
    this.#written = written;
    this.#removed = removed;
  }

  override delete(key: string): boolean {
    const item = this.get(key);
    const wasThere = super.delete(key);
    if (item !== undefined) this.#removed(item);
    return wasThere;
  }

  override set(key: string, item: Item): this {
    const before = this.get(key);
    super.set(key, item);
    this.#written(before, item);
    return this;
  }
}
