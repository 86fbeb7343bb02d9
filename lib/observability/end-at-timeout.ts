/**
 * Options of middy for a function that Lambda itself has to end at its timeout. By default middy answers with an error 5 ms
 * before. Then the process is only frozen, and goes on when Lambda reuses it, perhaps hours later: "Background processes or
 * callbacks … resume if Lambda reuses the execution environment"
 * (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html). A start call or stored results would then
 * come after the outcome, or after an erasure.
 */
export const endAtTimeout = { timeoutEarlyInMillis: 0 } as const;
