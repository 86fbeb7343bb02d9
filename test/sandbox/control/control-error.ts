/** A control call that is refused, with `status` and `{message}`. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409;

  constructor(status: 400 | 404 | 409, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}
