import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { itemOf, type SearchedItem } from './searched-item.ts';

type Answer = {
  /** `METHOD /path`; the path of the document, without anybody's ids, where it is one of those. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Keeps what a caller, or the provider, was answered, to be searched after the suite. */
export const keepAnswer = (file: string, answer: Answer): void =>
  appendFileSync(file, `${JSON.stringify(answer)}\n`);

/** One piece per kind of question and status. */
export async function* keptAnswers(file: string): AsyncGenerator<SearchedItem, void> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const byQuestion = Map.groupBy(
    lines.map((line) => JSON.parse(line) as Answer),
    ({ asked, status }) => `${asked} ${status}`,
  );
  for (const [question, answers] of byQuestion) {
    yield itemOf(
      'answer',
      question,
      answers.map(({ headers, body }) => [JSON.stringify(headers), body].join('\n')).join('\n'),
    );
  }
}
