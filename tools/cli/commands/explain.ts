import { explainExtraction } from '../explain/explain-extraction.ts';
import { formatStory } from '../explain/format-story.ts';
import { storySources } from '../explain/story-sources-from-aws.ts';
import { CliError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

export const explain = async (extractionId: string, { shell, connect }: CommandContext): Promise<number> => {
  const deployment = await connect();
  shell.wait('reading');
  const story = await explainExtraction(storySources(deployment, shell.now), {
    extractionId,
    now: shell.now(),
    command: deployment.command,
  });
  shell.wait(undefined);
  if (story === undefined) {
    throw new CliError(
      `The extraction ${extractionId} is unknown in ${deployment.stackName}: there is no record, and no trace of one in 90 days. Check the id and the stage.`,
    );
  }
  shell.print(formatStory(story, shell.columns), story);
  return 0;
};
