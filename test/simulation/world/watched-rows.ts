/** The rows of a table, with a callback for every write, and one for every removal of a row that was there. */
export class WatchedRows<Row> extends Map<string, Row> {
  readonly #written: (before: Row | undefined, after: Row) => void;
  readonly #removed: (row: Row) => void;

  constructor(
    written: (before: Row | undefined, after: Row) => void,
    removed: (row: Row) => void = () => undefined,
  ) {
    super();
    this.#written = written;
    this.#removed = removed;
  }

  override delete(key: string): boolean {
    const row = this.get(key);
    const wasThere = super.delete(key);
    if (row !== undefined) this.#removed(row);
    return wasThere;
  }

  override set(key: string, row: Row): this {
    const before = this.get(key);
    super.set(key, row);
    this.#written(before, row);
    return this;
  }
}
