/**
 * A problem of this machine, such as a missing Python, a port in use or a failed deployment. The message is for the person
 * at the terminal: it states the problem and the remedy. It is printed without a stack trace.
 */
export class ExpectedFailure extends Error {
  override name = 'ExpectedFailure';
}

/** No usable Python 3.10 or later was found on the PATH. */
export class PythonMissing extends ExpectedFailure {
  override name = 'PythonMissing';
}

/** The emulator's packages could not be installed. */
export class PythonEnvironmentFailed extends ExpectedFailure {
  override name = 'PythonEnvironmentFailed';
}

/** The requested port is in use. */
export class PortTaken extends ExpectedFailure {
  override name = 'PortTaken';
}

/** The emulator did not start, or the endpoint in AWS_ENDPOINT_URL does not answer. */
export class EmulatorFailed extends ExpectedFailure {
  override name = 'EmulatorFailed';
}

/** The CDK CLI ended with an error. */
export class DeployFailed extends ExpectedFailure {
  override name = 'DeployFailed';
}

/** An extraction of the demo had an unexpected outcome, or took too long. */
export class ExtractionFailed extends ExpectedFailure {
  override name = 'ExtractionFailed';
}
