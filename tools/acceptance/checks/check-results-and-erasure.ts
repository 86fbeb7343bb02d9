import { createHash, randomUUID } from 'node:crypto';
import { erasuresOf } from '../../cli/operate/begin-erasure.ts';
import { discardBody } from '../../cli/terminal/answer-body.ts';
import { fetchAgain } from './call-deployed-api.ts';
import { type Check, passed, Unmet, webhookArrives } from './check.ts';
import { extractUntilDone } from './request-and-await.ts';

export const resultsPresigned: Check = {
  id: 'results-presigned',
  title: 'The presigned URL returns the stored results, and only with its own signature',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const scenario = { resultBytes: 200_000 };
    const done = await extractUntilDone(context, 'results-presigned', scenario, 'COMPLETED with results');
    const { extractionId, results } = done;
    const where = 'Check the role of get-extraction, its key and the bucket policy.';
    if (results === undefined) throw new Unmet(`Extraction ${extractionId} has no results. ${where}`);
    const answer = await fetchAgain(() => fetch(results.url, { signal: context.signal }), context.sleep);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (!answer.ok || bytes.length !== results.bytes || sha256 !== results.sha256) {
      throw new Unmet(
        `The presigned URL of ${extractionId} was answered ${answer.status} with ${bytes.length} bytes, not with the ${results.bytes} bytes that were stored. ${where}`,
      );
    }
    const changed = new URL(results.url);
    changed.pathname += '0';
    const other = await fetch(changed, { signal: context.signal });
    await discardBody(other);
    if (other.ok)
      throw new Unmet('The signature of the presigned URL also opened another object. Check the bucket.');
    return passed(`${bytes.length} bytes, SHA-256 as recorded; ${other.status} for another path`);
  },
};

export const eraseForGood: Check = {
  id: 'erase',
  title: 'An erased extraction is gone from the tables, from the bucket and from the API',
  dependsOn: webhookArrives,
  seconds: ({ settings }) => settings.timeout + 130,
  run: async (context) => {
    const { extractionId } = await extractUntilDone(context, 'erase', {}, 'COMPLETED and collected');
    const erasures = erasuresOf(context.deployment);
    const erasureId = randomUUID();
    await erasures.begin({ erasureId, extractionId });
    await context.until(`extraction ${extractionId} to be erased`, async () =>
      (await erasures.tombstones(erasureId)).find(({ erasedAt }) => erasedAt !== undefined),
    );
    const { status } = await context.api.call('GET', `/extractions/${extractionId}`);
    if (status !== 404)
      throw new Unmet(`GET /extractions/${extractionId} is answered ${status} after its erasure.`);
    return passed('its tombstone says that nothing is left; the API answers 404');
  },
};
