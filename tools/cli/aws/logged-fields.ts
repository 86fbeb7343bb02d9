/** The JSON that a function logged. */
export type LoggedFields = Readonly<Record<string, unknown>>;

/** The fields of a log line. Undefined for a line that is no JSON object, such as REPORT of the Lambda runtime. */
export const loggedFields = (message: string): LoggedFields | undefined => {
  try {
    const fields: unknown = JSON.parse(message);
    return typeof fields === 'object' && fields !== null ? (fields as LoggedFields) : undefined;
  } catch {
    return undefined;
  }
};
