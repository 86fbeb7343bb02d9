const messages = {
  secret: (name: string) =>
    `The secret ${name} has no value yet. Fill it with the command that the deployment printed.`,
  setting: (name: string) =>
    `The setting ${name} is not set. Consents need it. Set it in the file of the stage, or as a property of the construct, and deploy again.`,
};

/**
 * A deployed secret has no value yet, or an optional setting that the request needs is not set. HTTP functions return 503 for a secret, and
 * 501 for a setting, because only a deployment changes that. start-task retries. The message names the secret or setting and may be logged.
 */
export class NotConfigured extends Error {
  override readonly name = 'NotConfigured';
  readonly what: 'secret' | 'setting';

  constructor(what: 'secret' | 'setting', name: string) {
    super(messages[what](name));
    this.what = what;
  }
}
