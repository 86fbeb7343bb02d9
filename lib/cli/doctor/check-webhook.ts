import { type Finding, failed, passed } from './finding.ts';

/** A signature of the right form that no key makes: zeros. Unlike none at all, it is checked against the keys. */
const noSignature = `sha256=${'0'.repeat(64)}`;

/** Whether the webhook is reachable, reads its keys, and refuses what is not signed with them. Changes nothing. */
export const checkWebhook = async (
  fetchUrl: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
): Promise<Finding> => {
  let answer: Response;
  try {
    answer = await fetchUrl(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': noSignature },
      body: '{}',
      signal: AbortSignal.timeout(15_000),
    });
  } catch {
    return failed(
      `webhook ${url} does not answer`,
      'Is the name known to DNS, and the certificate valid? The provider needs to reach it too.',
    );
  }
  await answer.body?.cancel();
  const { status } = answer;
  switch (status) {
    case 401:
      return passed(`webhook refuses a bad signature; the address to register at the provider is ${url}`);
    case 503:
      return failed(
        'webhook answers 503: it has no signing key',
        'Fill the webhook signing key. The provider delivers again meanwhile.',
      );
    case 204:
      return failed(
        'webhook takes a delivery that nobody signed',
        'This is not the webhook of Cosecha, or a forgery gets in: take the route down and look who answers there.',
      );
    default:
      if (status >= 500) return failed(`webhook fails (${status})`, 'The log of receive-webhook says why.');
      return failed(
        `webhook ${url} answers ${status}, not 401`,
        'Another service answers there, or the route is gone: compare it with the output WebhookUrl, and deploy again.',
      );
  }
};
