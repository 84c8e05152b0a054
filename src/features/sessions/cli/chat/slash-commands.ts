/** Parses a typed line; pure. A line that begins with two slashes is a prompt that begins with one. */

const COMMANDS = {
  help: "this list",
  stop: "end the turn that runs; what is queued goes on",
  "steer TEXT": "cut the turn that runs and say this instead",
  clear: "begin a fresh context; what was said stays readable",
  tree: "this session and its children, with numbers",
  "open N": "go to a child, by its number in the tree or by its id",
  back: "return to where you came from, or to the parent",
  approvals: "what waits for your answer",
  "allow [ID]": "let the agent do it, once",
  "always [ID]": "let agents do this from now on",
  "deny [ID] [WHY]": "do not let the agent do it",
  later: "put the question aside",
  reasoning: "show the agent's reasoning, or hide it again",
  quit: "leave; the work goes on",
} as const;

type NameOf<T> = T extends `${infer Name} ${string}` ? Name : T;
export type CommandName = NameOf<keyof typeof COMMANDS>;

const NAMES = Object.keys(COMMANDS).map((usage) => usage.split(" ", 1)[0] as CommandName);

export type Said =
  | { type: "nothing" }
  | { type: "prompt"; text: string }
  | { type: "command"; name: CommandName; rest: string }
  | { type: "unknown"; word: string };

export function readLine(text: string): Said {
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
    "  Anything else is sent as a prompt; // sends a line that begins with a slash.",
    "  Alt-Enter, Ctrl-J or \\ before Enter begins a new line. Ctrl-C ends the turn, twice leaves.",
  ];
}
