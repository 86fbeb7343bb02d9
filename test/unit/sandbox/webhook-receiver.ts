import { httpServer } from '../../support/programs/stub-servers.ts';

/** A webhook receiver that records its requests. It answers with the statuses in turn, the last one repeatedly. */
export const startReceiver = async (statuses: readonly number[] = [204]) => {
  const { baseUrl, seen } = await httpServer((response) => {
    const status = statuses[Math.min(seen.length, statuses.length) - 1] ?? 204;
    response.writeHead(status).end(status === 204 ? undefined : `answer ${status}`);
  });
  return { url: `${baseUrl}/webhooks/provider`, received: seen };
};
