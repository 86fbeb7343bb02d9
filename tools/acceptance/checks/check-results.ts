import { createHash } from 'node:crypto';
import { fetchTwice } from './api.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import { extract, isDone, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

export const resultsPresigned: Check = {
  id: 'results-presigned',
  title: 'The presigned URL returns the stored results, and only with its own signature',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const resultBytes = 200_000;
    const extractionId = await extract(context, requestOf('results-presigned', { resultBytes }));
    const { results } = await readUntil(context, extractionId, 'COMPLETED with results', isDone);
    const where = 'Check the role of get-extraction, its key and the bucket policy.';
    if (results === undefined) throw new Unmet(`Extraction ${extractionId} has no results. ${where}`);
    const answer = await fetchTwice(() => fetch(results.url, { signal: context.signal }), context.sleep);
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
    await other.body?.cancel();
    if (other.ok)
      throw new Unmet('The signature of the presigned URL also opened another object. Check the bucket.');
    return passed(`${bytes.length} bytes, SHA-256 as recorded; ${other.status} for another path`);
  },
};
