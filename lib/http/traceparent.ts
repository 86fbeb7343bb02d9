/** Of any version: trace id, parent id and flags, in lower case. A later version may have more, after a dash. */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

const isZero = (id: string): boolean => /^0+$/.test(id);

/**
 * A caller's `traceparent` (W3C Trace Context, https://www.w3.org/TR/trace-context-1/#traceparent-header) as version 00, or
 * undefined if it is absent or invalid: then the trace is not continued, and the request is valid all the same. Of a later version,
 * only the ids and the flag `sampled` are known. API Gateway joins repeated headers by a comma, which is invalid.
 */
export const parseTraceparent = (header: string | undefined): string | undefined => {
  const [, version = '', traceId = '', parentId = '', flags = '', more] = form.exec(header ?? '') ?? [];
  if (traceId === '' || version === 'ff' || isZero(traceId) || isZero(parentId)) return undefined;
  if (version === '00') return more === undefined ? header : undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return `00-${traceId}-${parentId}-${isSampled ? '01' : '00'}`;
};
