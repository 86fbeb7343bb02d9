// Loads the bundled function as Lambda does, reconciles one extraction three times, and prints the most memory that the process had.
const { readFileSync } = require('node:fs');

const { handler } = require(process.argv[2]);
const context = {
  functionName: 'bench',
  functionVersion: '1',
  memoryLimitInMB: '512',
  awsRequestId: 'bench',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:bench',
  getRemainingTimeInMillis: () => 100_000,
};
const body = JSON.stringify({ extractionId: 'extraction-1', cause: 'sweep' });
const event = { Records: [{ messageId: 'message', body, attributes: { ApproximateReceiveCount: '1' } }] };

// Of this process alone. After an exec, `maxRSS` of getrusage also counts the process that forked it.
const peakMB = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;

/** A process that lives on still has garbage of the answer before. */
const invocations = 3;

const run = async () => {
  for (let count = 0; count < invocations; count += 1) {
    const { batchItemFailures } = await handler(event, context);
    if (batchItemFailures.length > 0) process.exit(1);
  }
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6 / invocations;
  console.log(JSON.stringify({ peakMB: peakMB(), cpuSeconds }));
  process.exit();
};

run();
