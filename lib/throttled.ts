/** AWS refuses calls for now, because there are too many. HTTP functions return 503 with `Retry-After`. The message may be logged. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}
