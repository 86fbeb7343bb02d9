import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { itemOf, type SearchedItem } from './searched-item.ts';

type Answer = {
  /** `METHOD /path`, with the path of docs/openapi.yaml where it has one, so without ids. */
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Appends an answer to a caller or to the provider to the file that is searched after the suite. */
export const keepAnswer = (file: string, answer: Answer): void =>
  appendFileSync(file, `${JSON.stringify(answer)}\n`);

/** The lines of JSON in a file, if it exists. */
export const readLines = async <T>(file: string): Promise<readonly T[]> =>
  (await readFile(file, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** One item per request and status. */
export async function* keptAnswers(file: string): AsyncGenerator<SearchedItem, void> {
  const answers = await readLines<Answer>(file);
  const byRequest = Map.groupBy(answers, ({ request, status }) => `${request} ${status}`);
  for (const [name, answers] of byRequest) {
    yield itemOf(
      'answer',
      name,
      answers.map(({ headers, body }) => [JSON.stringify(headers), body].join('\n')).join('\n'),
    );
  }
}
