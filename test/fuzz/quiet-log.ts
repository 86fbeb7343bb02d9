/**
 * Import this before anything that loads `lib/observability`: what a failing dependency leaves in the log, and the
 * metrics that it adds to, would otherwise be printed once per case. Leaks into the log are the end to end suite's.
 */
process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
process.env.POWERTOOLS_METRICS_DISABLED = 'true';
