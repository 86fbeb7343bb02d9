import { doctorSignature } from '../../../lib/webhook/receive-delivery.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails unless the webhook answers 401 to a delivery with a wrong signature. That delivery changes nothing. */
export const checkWebhook = async (
  fetchUrl: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
): Promise<Finding> => {
  let answer: Response;
  try {
    answer = await fetchUrl(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': doctorSignature },
      body: '{}',
      signal: AbortSignal.timeout(15_000),
    });
  } catch {
    return failed(
      `webhook ${url} does not answer`,
      'Check its DNS name and its certificate. The provider must reach it, too.',
    );
  }
  await answer.body?.cancel();
  const { status } = answer;
  switch (status) {
    case 401:
      return passed(`webhook refuses a wrong signature; the URL to register at the provider is ${url}`);
    case 503:
      return failed(
        'webhook answers 503: it has no signing key',
        'Fill the webhook signing key. Until then the provider repeats its deliveries.',
      );
    case 204:
      return failed(
        'webhook accepts a wrong signature',
        'Another service answers there, or anybody can forge deliveries. Remove the route, and find out which.',
      );
    default:
      if (status >= 500) {
        return failed(`webhook answers ${status}`, 'The log of receive-webhook has the cause.');
      }
      return failed(
        `webhook ${url} answers ${status} instead of 401`,
        'Another service answers there, or the route is missing. Compare it with the output WebhookUrl, and deploy the stack again.',
      );
  }
};
