/**
 * Something on this machine that we know can go wrong: a missing Python, a taken port, a failed deploy. The message is
 * written for the person at the terminal (one sentence: what is wrong and what to do) and is shown without a stack.
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

/** The port asked for is in use. */
export class PortTaken extends ExpectedFailure {
  override name = 'PortTaken';
}

/** The emulator did not come up, or the endpoint named by AWS_ENDPOINT_URL does not answer. */
export class EmulatorFailed extends ExpectedFailure {
  override name = 'EmulatorFailed';
}

/** The CDK CLI ended with an error. */
export class DeployFailed extends ExpectedFailure {
  override name = 'DeployFailed';
}

/** The extraction did not end the way the demonstration needs, or not in time. */
export class ExtractionFailed extends ExpectedFailure {
  override name = 'ExtractionFailed';
}
