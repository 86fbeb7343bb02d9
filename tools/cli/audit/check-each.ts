import type { Checked, Facts } from './audit-types.ts';

export const day = 86_400;

/** Between the writes of one process, retries included, and between two clocks. In seconds. */
export const slack = 60;

/** Throws a RangeError if one of them is not a time. */
export const secondsBetween = (earlier: string, later: string): number =>
  (Date.parse(new Date(later).toISOString()) - Date.parse(new Date(earlier).toISOString())) / 1_000;

export const age = ({ now }: Facts, time: string): number => secondsBetween(time, now.toISOString());

/** Of a time in epoch seconds, as the attributes of TTL have it. */
export const timeOf = (epochSeconds: number): string => new Date(epochSeconds * 1_000).toISOString();

/** A note about the part of the period that a source no longer has. */
export const olderThan = (facts: Facts, days: number, what: string): string | undefined =>
  age(facts, facts.since.toISOString()) > days * day + slack ? what : undefined;

/** What `judge` finds wrong with each. A damaged time is a finding too, and does not end the audit. */
export const checkEach = <One extends { readonly extractionId: string }>(
  all: Iterable<One>,
  judge: (one: One) => string | undefined,
  notChecked?: string,
): Checked => {
  const judged = [...all].map((one) => {
    try {
      return { extractionId: one.extractionId, what: judge(one) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { extractionId: one.extractionId, what: 'A time in it is damaged.' };
    }
  });
  const findings = judged.flatMap(({ extractionId, what }) => (what ? [{ extractionId, what }] : []));
  return { checked: judged.length, findings, notChecked };
};
