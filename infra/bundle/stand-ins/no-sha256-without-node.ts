/** Replaces SHA-256 in JavaScript, which the SDK uses only where Node was built without cryptography. */
export class Sha256Js {
  constructor() {
    throw new Error('This Node has no SHA-256.');
  }
}
