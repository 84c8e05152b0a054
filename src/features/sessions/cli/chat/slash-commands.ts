/** Parses a typed line; pure. A line that begins with two slashes is a prompt that begins with one. */

const COMMANDS = {
  help: "show this list",
  stop: "stop the running turn; queued prompts go on",
  "steer TEXT": "interrupt the running turn and do this instead",
  clear: "start with a fresh context; the history stays readable",
  tree: "show this session and its children, with numbers",
  "open N": "open a child by its number in the tree or by its id",
  back: "go back to where you came from, or to the parent",
  approvals: "show what needs your answer",
  "allow [ID]": "allow the request, once",
  "always [ID]": "allow this from now on",
  "deny [ID] [WHY]": "deny the request",
  later: "put the question aside",
  reasoning: "show or hide the agent's reasoning",
  quit: "leave; the work goes on",
} as const;

type NameOf<T> = T extends `${infer Name} ${string}` ? Name : T;
export type CommandName = NameOf<keyof typeof COMMANDS>;

const NAMES = Object.keys(COMMANDS).map((usage) => usage.split(" ", 1)[0] as CommandName);

export type ParsedInput =
  | { type: "nothing" }
  | { type: "prompt"; text: string }
  | { type: "command"; name: CommandName; rest: string }
  | { type: "unknown"; word: string };

export function parseInput(text: string): ParsedInput {
  if (text.trim() === "") return { type: "nothing" };
  if (!text.startsWith("/")) return { type: "prompt", text };
  if (text.startsWith("//")) return { type: "prompt", text: text.slice(1) };
  const [, word = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(text) ?? [];
  const name = word === "exit" ? "quit" : NAMES.find((known) => known === word);
  return name
    ? { type: "command", name, rest: rest.trim() }
    : { type: "unknown", word: `/${word}` };
}

export function helpLines(): string[] {
  const lines = Object.entries(COMMANDS).map(([usage, what]) => `  /${usage.padEnd(17)}${what}`);
  return [
    ...lines,
    "  Anything else is sent as a prompt; // sends a line that starts with a slash.",
    "  Alt-Enter, Ctrl-J or \\ before Enter starts a new line. Ctrl-C stops the turn, twice leaves.",
  ];
}
