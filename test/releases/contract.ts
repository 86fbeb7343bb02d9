import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { problemTypes, problemUri } from '#lib/http/problem.ts';
import { metricsNamespace, metricsService } from '#lib/observability/metric-names.ts';
import { type DocumentedSetting, documentedSettings } from '../../infra/settings/documented-settings.ts';
import type { Deployment } from '../../tools/cli/aws/deployment.ts';
import { checksOf } from '../../tools/cli/doctor/checks.ts';
import { createProgram } from '../../tools/cli/program.ts';
import { exitCodes } from '../../tools/cli/terminal/errors.ts';
import { contractSchemas } from '../../tools/contracts/contract-schemas.ts';
import { repository } from '../../tools/local/paths.ts';
import { metricNames } from '../unit/docs/metric-names.ts';
import { read } from '../unit/docs/pages.ts';
import { everyOption, flatten, notifyingAlarms, synthesize } from '../unit/infra/synth.ts';
import { storedResources } from './stored-resources.ts';

type Json = { readonly [name: string]: unknown };

const words = ['description', 'summary', 'title', 'example', 'examples', 'tags', 'servers', 'info'];

/** A schema or an API description without what is only text. A property may have such a name. */
const withoutText = (value: unknown, isNames = false): unknown => {
  if (Array.isArray(value)) return value.map((one) => withoutText(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNames || !(words.includes(name) || name.startsWith('x-')))
      .map(([name, inner]) => [name, withoutText(inner, !isNames && ['properties', '$defs'].includes(name))]),
  );
};

export type Setting = {
  readonly required: boolean;
  readonly default?: unknown;
  readonly range?: readonly number[];
  readonly words?: readonly string[];
};

/** The range and the words that a setting takes, from the text of docs/settings.md. Its other forms are checked by functions. */
const settingOf = ({ isRequired, byDefault, values }: DocumentedSetting): Setting => {
  const [, least, most] = /, ([\d.]+) to ([\d.]+)$/.exec(values) ?? [];
  const accepted = [...values.matchAll(/`(\w+)`/g)].map(([, word]) => word ?? '');
  return {
    required: isRequired,
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...(most === undefined ? {} : { range: [Number(least), Number(most)] }),
    ...(accepted.length === 0 ? {} : { words: accepted }),
  };
};

const settings = (): Readonly<Record<string, Setting>> =>
  Object.fromEntries(documentedSettings.map((setting) => [setting.name, settingOf(setting)]));

const statement =
  /^export (?:(type )?\{([^}]*)\}|(\*) from '([^']+)'|(?:async )?(const|class|function|type) (\w+))(?: from)?/gm;

/** What a module exports, as `name` or, where it has no value, `type name`. */
const exportsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(statement)].flatMap(
    ([, type, names, all, from = '', kind, name]) => {
      if (all) return exportsOf(join(dirname(file), from));
      if (name) return [kind === 'type' ? `type ${name}` : name];
      const listed = (names ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
      return listed.map((one) => (type ? `type ${one}` : one));
    },
  );

const packageExports = (): readonly string[] => {
  const { exports } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const modules = Object.entries(exports).flatMap(([path, source]) =>
    exportsOf(join(repository, source)).map((name) => `${path} ${name}`),
  );
  return [...modules, ...Object.keys(contractSchemas()).map((file) => `./schemas/${file}`)];
};

/** Each command with the arguments that it requires, each other argument, and each option. */
const commandLine = (): readonly string[] => {
  const program = createProgram(async () => undefined, '');
  const describe = (command: typeof program): readonly string[] => {
    const written = command.registeredArguments.map((one) => [one.required, `<${one.name()}>`] as const);
    const required = written.flatMap(([isRequired, text]) => (isRequired ? [text] : []));
    return [
      [command.name(), ...required].join(' '),
      ...written.flatMap(([isRequired, text]) => (isRequired ? [] : [`${command.name()} optional ${text}`])),
      ...command.options.map(({ flags }) => `${command.name()} ${flags}`),
    ];
  };
  return [program, ...program.commands].flatMap((command) => describe(command));
};

const deployment = {
  client: { region: 'eu-west-1' },
  output: (name: string) => name,
  findOutput: (name: string) => outputOf(name),
  api: {},
} as unknown as Deployment;

/** What needs no deployment. */
const outputOf = (name: string): string => flatten(synthesize().template.findOutputs(name)[name]?.Value);

const doctorChecks = (): readonly string[] => checksOf(deployment, {}, new Date(0)).map(({ id }) => id);

const alarmNames = (): readonly string[] =>
  notifyingAlarms(synthesize(everyOption).template).map(({ AlarmName }) => String(AlarmName));

const names = (): Readonly<Record<string, readonly string[]>> => ({
  outputs: Object.keys(synthesize().template.findOutputs('*')),
  'outputs with every option': Object.keys(synthesize(everyOption).template.findOutputs('*')),
  'exit codes': Object.entries(exitCodes).map(([name, code]) => `${code} ${name}`),
  'problem types': problemTypes.map(problemUri),
  metrics: [`${metricsNamespace('prod')} service=${metricsService}`, ...metricNames],
  alarms: alarmNames(),
  'doctor checks': doctorChecks(),
  'command line': commandLine(),
  exports: packageExports(),
});

const sorted = (lists: Readonly<Record<string, readonly string[]>>): Json =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, [...new Set(list)].toSorted()]));

/** Everything public of today, by the name of its file in test/releases/<version>. */
export const contractOfToday = (): Readonly<Record<string, Json>> => ({
  'schemas.json': withoutText(contractSchemas()) as Json,
  'openapi.json': withoutText(parse(read('docs/openapi.yaml'))) as Json,
  'settings.json': settings(),
  'names.json': sorted(names()),
  'stored-resources.json': storedResources(),
});
