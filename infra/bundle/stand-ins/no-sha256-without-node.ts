/** Stands in for SHA-256 in JavaScript, which the SDK takes where Node was built without cryptography. */
export class Sha256Js {
  constructor() {
    throw new Error('This Node has no SHA-256.');
  }
}
