/**
 * Command blocks of a document: fenced blocks marked `sh`. A block that cannot be run here has the
 * comment `<!-- not run: why -->` on the line before it.
 */
export interface CommandBlock {
  /** Line of its first command, from 1. */
  line: number;
  text: string;
  /** The reason it is not run; null when it is. */
  notRun: string | null;
}

const BLOCK = /^(?:<!-- not run: (.+) -->\n)?```sh\n([\s\S]*?)^```$/gm;

export function commandBlocks(document: string): CommandBlock[] {
  return [...document.matchAll(BLOCK)].map((match) => {
    const [all, notRun = null, text = ""] = match;
    const before = document.slice(0, match.index + all.indexOf("```sh\n") + "```sh\n".length);
    return { line: before.split("\n").length, text, notRun };
  });
}

/** Placeholder ids, such as `tsk_01…` or `mem_…`. */
const STAND_IN = /\b(tsk|msg|ltr|ses|apr|mem|rnr)_(\d\d)?…/g;
/** The end of an id, as the picture of a tree shows it. */
const SHORT_ID = /\b7yb2sn\b/g;

/**
 * A bash script that runs these blocks in one shell, sets the line number before each command, and
 * stops at the first failure. Placeholder ids are resolved by `stand-in`; `addresses` maps the
 * addresses in the documents to real ones.
 */
export function scriptOf(
  blocks: readonly CommandBlock[],
  addresses: Readonly<Record<string, string>>,
): string {
  const body = blocks.flatMap(({ line, text }) =>
    text.split("\n").map((command, at) => placed(command, line + at, text.split("\n")[at - 1])),
  );
  const script = ["set -e", "trap 'echo \"failed in line $PLACE\" >&2' ERR", ...body, ""].join(
    "\n",
  );
  return Object.entries(addresses)
    .reduce((text, [named, real]) => text.replaceAll(named, real), script)
    .replaceAll(SHORT_ID, "$(stand-in ses 1 | tail -c 7)")
    .replaceAll(STAND_IN, (_, kind: string, n = "1") => `$(stand-in ${kind} ${Number(n)})`);
}

/** A continued command stays whole. */
function placed(command: string, line: number, before = ""): string {
  if (command.trim() === "" || before.endsWith("\\")) return command;
  return `PLACE=${line}\n${command}`;
}
