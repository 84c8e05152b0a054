/** A turn for programs: its durable events, one per line, then the prompt with its outcome. */
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { jsonText } from "#surfaces/cli/kit/text/terminal.ts";
import type { TurnView } from "./turn-view.ts";

export function createJsonLines({ stdout, stderr }: CliHost): TurnView {
  const line = (value: unknown) => void stdout.write(`${jsonText(value)}\n`);
  return {
    event: line,
    delta: () => {},
    note: (text) => void stderr.write(`${text}\n`),
    end: (prompt) => line({ prompt }),
  };
}
