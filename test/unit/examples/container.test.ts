import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { collectedEvent } from '#lib/downstream/stream-records-for-tests.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { repository } from '../../../tools/local/paths.ts';
import { read } from '../docs/pages.ts';

test('docs/stream.md has the whole stack of a container, whose queue takes messages of its rule alone', () => {
  expect(read('docs/stream.md')).toContain(read('examples/container/app.ts'));
  const outdir = temporaryDirectory();
  const { context } = JSON.parse(read('examples/container/cdk.json'));
  execFileSync(process.execPath, ['examples/container/app.ts'], {
    cwd: repository,
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
  const { Resources } = JSON.parse(readFileSync(join(outdir, 'Outcomes.template.json'), 'utf8'));
  type Resource = { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> };
  const of = (type: string) => Object.values<Resource>(Resources).filter(({ Type }) => Type === type);
  expect(of('AWS::Events::Rule')).toMatchObject([
    {
      Properties: {
        EventBusName: 'Cosecha-prod-outcomes',
        Targets: [{ DeadLetterConfig: expect.anything() }],
      },
    },
  ]);
  const policies = of('AWS::SQS::QueuePolicy').flatMap(
    ({ Properties }) => (Properties.PolicyDocument as { Statement: readonly object[] }).Statement,
  );
  expect(policies).toHaveLength(2);
  for (const statement of policies) {
    expect(statement).toMatchObject({
      Condition: { ArnEquals: { 'aws:SourceArn': expect.anything() } },
      Principal: { Service: 'events.amazonaws.com' },
    });
  }
  expect(of('AWS::CloudWatch::Alarm')).toHaveLength(1);
});

test('the sample of docs/stream.md makes a span of each part of an extraction, below that of its caller', () => {
  const [, sample = ''] =
    /```ts\n(import \{ context, propagation[\s\S]*?)```/.exec(read('docs/stream.md')) ?? [];
  const spans: { name: string; startTime: Date; parent: unknown; endTime?: Date }[] = [];
  const api = {
    context: { active: () => 'active' },
    propagation: { extract: (_: unknown, { traceparent }: { traceparent: string }) => traceparent },
    trace: {
      setSpan: (parent: string, span: { name: string }) => `${parent} > ${span.name}`,
      getTracer: () => ({
        startSpan: (name: string, { startTime }: { startTime: Date }, parent: unknown) => {
          const span = { name, startTime, parent, end: (endTime: Date) => Object.assign(span, { endTime }) };
          spans.push(span);
          return span;
        },
      }),
    },
  };
  const code = stripTypeScriptTypes(
    sample.replace(/^import .*$/m, 'const { context, propagation, trace } = api;'),
  );
  const { requestedAt, startingAt, startedAt, settledAt, collectedAt } = record;
  vm.runInNewContext(`${code}\ntraceExtraction(event);`, { api, event, Date });
  expect(JSON.parse(JSON.stringify(spans))).toEqual([
    { name: 'extraction', startTime: requestedAt, endTime: collectedAt, parent: traceparent },
    { name: 'wait', startTime: requestedAt, endTime: startingAt, parent: `${traceparent} > extraction` },
    { name: 'start', startTime: startingAt, endTime: startedAt, parent: `${traceparent} > extraction` },
    { name: 'task', startTime: startedAt, endTime: settledAt, parent: `${traceparent} > extraction` },
    { name: 'collection', startTime: settledAt, endTime: collectedAt, parent: `${traceparent} > extraction` },
  ]);
});

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const event = decodeExtractionEvent(collectedEvent({ traceparent }));
const record = (event as unknown as { extraction: Record<string, string> }).extraction;
