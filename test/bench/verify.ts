import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Bench } from 'tinybench';
import { verifySignature } from '../../lib/webhook/verify-signature.ts';
import type { Ratio } from './ratio.ts';

const key = 'a-signing-key-of-ordinary-length-0123456789';

/** A delivery as it mostly is, one of several KB, and far more than the webhook takes. */
const bodySizes = [120, 2_048, 65_536] as const;

/** In turns, and the best of each: what else the machine does then weighs on neither. */
const rounds = 20;

/**
 * `verifySignature` beside the least that any check has to do: createHmac and timingSafeEqual over the same
 * bytes, the header taken apart by position.
 */
export const compareVerify = async (): Promise<readonly Ratio[]> => {
  const ratios: Ratio[] = [];
  for (const bytes of bodySizes) {
    const body = randomBytes(bytes);
    const header = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
    const bare = (): boolean =>
      timingSafeEqual(createHmac('sha256', key).update(body).digest(), Buffer.from(header.slice(7), 'hex'));
    const best = { bare: 0, ours: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const bench = new Bench({ time: 100, warmupTime: 20 });
      bench.add('bare', bare).add('ours', () => verifySignature(header, body, [key]));
      await bench.run();
      for (const [index, name] of (['bare', 'ours'] as const).entries()) {
        const result = bench.tasks[index]?.result;
        if (result !== undefined && 'throughput' in result) {
          best[name] = Math.max(best[name], result.throughput.mean);
        }
      }
    }
    ratios.push({
      what: `verifySignature, ${bytes} bytes, against createHmac + timingSafeEqual (calls per second)`,
      ratio: best.ours / best.bare,
      wanted: '≥ 1.0',
    });
  }
  return ratios;
};
