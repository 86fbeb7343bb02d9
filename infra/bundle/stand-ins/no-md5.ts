/**
 * Replaces MD5. SQS's client would hash each message once more to compare it with SQS's own hash, which our clients switch off
 * (lib/aws/wiring/client-options.ts). S3's uses it for keys of customers only. The real one makes a hash when it is loaded.
 */
export class Md5Node {
  constructor() {
    throw new Error('MD5 is switched off.');
  }
}
