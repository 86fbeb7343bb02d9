/** The rows of a table, with a callback for every write. */
export class WatchedRows<Row> extends Map<string, Row> {
  readonly #written: (before: Row | undefined, after: Row) => void;

  constructor(written: (before: Row | undefined, after: Row) => void) {
    super();
    this.#written = written;
  }

  override set(key: string, row: Row): this {
    const before = this.get(key);
    super.set(key, row);
    this.#written(before, row);
    return this;
  }
}
