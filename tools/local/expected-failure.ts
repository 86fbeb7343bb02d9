/**
 * A problem of this machine, such as a missing Python, a port in use or a failed deployment, or an unexpected end of the demo. The
 * message is for the person at the terminal: it states the problem and the remedy. It is printed without a stack trace.
 */
export class ExpectedFailure extends Error {
  override readonly name = 'ExpectedFailure';
}
