const messages = {
  secret: (name: string) =>
    `The secret ${name} has no value yet. Fill it with the command that the deployment printed.`,
  setting: (name: string) => `The setting ${name} is not set. Consents need it. Deploy with -c ${name}=….`,
};

/**
 * The stack is deployed, but a secret has no value yet, or an optional setting that the request needs is not set.
 * HTTP functions return 503, and start-task retries. The message names the secret or setting and may be logged.
 */
export class NotConfigured extends Error {
  override readonly name = 'NotConfigured';
  readonly what: 'secret' | 'setting';

  constructor(what: 'secret' | 'setting', name: string) {
    super(messages[what](name));
    this.what = what;
  }
}
