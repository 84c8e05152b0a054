/**
 * Finds the commands that a program runs: `sudo`, `env`, `xargs` and the like by their options, shells
 * by their script, `find` by `-exec`, `git` by an alias given on the command line.
 */
import { readGit } from "./git-words.ts";
import type { Word } from "./shell-lexer.ts";

/** Commands and scripts that a command runs besides itself. */
export interface Unwrapped {
  /** Words of the commands it runs. */
  commands: readonly { words: readonly Word[]; openEnded: boolean }[];
  /** Shell text it runs. */
  scripts: readonly string[];
  opaque: boolean;
}

interface Wrapper {
  /** Short options that take a value. */
  values?: string;
  /** Short options that take none. */
  flags?: string;
  longValues?: readonly string[];
  longFlags?: readonly string[];
  /** Number of words before the command. */
  skip?: number;
  assignments?: boolean;
  openEnded?: boolean;
  /** Option whose value is shell text. */
  script?: string;
  /** True if options may follow the name of a user. */
  namesUser?: boolean;
  /** True if the rest is passed to a shell as one text. */
  joins?: boolean;
}

const MAX_SUFFIXES = 20;
const MAX_ALIASES = 5;
const NONE: Unwrapped = { commands: [], scripts: [], opaque: false };
const OPAQUE: Unwrapped = { commands: [], scripts: [], opaque: true };

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    values: "ugpCcDhRrTtU",
    flags: "AbEHKknPSVvlise",
    longValues: ["user", "group", "prompt", "chdir", "host", "role", "type", "chroot"],
    longFlags: ["preserve-env", "non-interactive", "login", "shell", "background", "stdin"],
    assignments: true,
  },
  doas: { values: "uC", flags: "Lns" },
  env: {
    values: "uC",
    flags: "i0v",
    longValues: ["unset", "chdir"],
    longFlags: ["ignore-environment", "null", "debug"],
    script: "S",
    assignments: true,
  },
  xargs: {
    values: "dEILnPsa",
    flags: "0rtpxoile",
    longValues: ["delimiter", "arg-file", "max-args", "max-procs", "max-chars"],
    longFlags: [
      "null",
      "no-run-if-empty",
      "verbose",
      "interactive",
      "exit",
      "replace",
      "max-lines",
    ],
    openEnded: true,
  },
  nohup: {},
  time: { values: "fo", flags: "apvqV" },
  command: { flags: "pvV" },
  builtin: {},
  exec: { values: "a", flags: "cl" },
  nice: { values: "n", flags: "0123456789", longValues: ["adjustment"] },
  ionice: { values: "cnpPu", flags: "t" },
  timeout: {
    values: "ks",
    flags: "v",
    longValues: ["kill-after", "signal"],
    longFlags: ["foreground", "preserve-status", "verbose"],
    skip: 1,
  },
  stdbuf: { values: "ioe" },
  setsid: { flags: "cfw" },
  chroot: { skip: 1 },
  busybox: {},
  toybox: {},
  unbuffer: {},
  npx: { values: "p", flags: "yq", longFlags: ["yes", "no"], longValues: ["package"], script: "c" },
  bunx: {},
  flock: { values: "wE", flags: "sxeonuF", script: "c", skip: 1 },
  watch: { values: "nq", flags: "bcdegptxC", joins: true },
  script: { flags: "aefq", values: "O", script: "c" },
  su: { values: "gGsw", flags: "lmpP", script: "c", longFlags: ["login"], namesUser: true },
  runuser: { values: "ugGs", flags: "lmpP", script: "c", namesUser: true },
};

/** Wrappers whose options are not listed here. */
const LOOSE_WRAPPERS: ReadonlySet<string> = new Set(
  `strace ltrace taskset unshare nsenter chrt numactl prlimit valgrind perf systemd-run firejail
  bwrap proot fakeroot xvfb-run dbus-run-session proxychains proxychains4 torsocks rlwrap sg pkexec
  runcon setpriv capsh cpulimit faketime ssh gdb setarch linux32 linux64 i386 uname26 chpst
  softlimit catchsegv eatmydata chronic ts pidstat hyperfine entr`.split(/\s+/),
);
const RUN_BY: Readonly<Record<string, string>> = {
  npm: "exec x",
  pnpm: "exec dlx",
  yarn: "exec dlx",
  bun: "x",
  bundle: "exec",
  mise: "exec x",
  direnv: "exec",
  uv: "run",
  poetry: "run",
  pipenv: "run",
  pdm: "run",
};

const SHELLS = /^(?:ba|da|z|k|a|rba|fi)?sh$/;
const INTERPRETERS: readonly [RegExp, RegExp][] = [
  [/^python[\d.]*$|^pypy\d?$/, /^-[A-Za-z]*c/],
  [/^(?:node|nodejs|bun)$/, /^-(?:[a-z]*[ep]$|-eval|-print)/],
  [/^(?:perl|ruby|lua[\d.]*)$/, /^-[A-Za-z]*[eE]/],
  [/^php[\d.]*$/, /^-[rBE]/],
  [/^deno$/, /^eval$/],
  [/^osascript$/, /^-e$/],
];

/** Unwraps a command. `input` is its standard input; empty: unknown; undefined: nothing special. */
export function unwrap(name: string, words: readonly Word[], input: string | undefined): Unwrapped {
  const args = words.slice(1);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper) return unwrapOptions(wrapper, args);
  if (SHELLS.test(name)) return unwrapShell(args, input);
  switch (name) {
    case "eval":
      return { ...OPAQUE, scripts: [textOf(args)] };
    case "source":
    case ".":
      return OPAQUE;
    case "parallel":
      return unwrapParallel(args);
    case "trap": {
      const script = args.find(({ text }) => text !== "--");
      return { ...NONE, scripts: script ? [script.text] : [] };
    }
    case "find":
    case "fd":
    case "fdfind":
      return unwrapFind(args);
    case "git":
    case "hub":
      return unwrapGit(name, words);
    case "git-submodule":
    case "git-rebase":
    case "git-bisect":
      return { ...NONE, scripts: scriptsOfGit(name, words) };
    case "alias":
      return { ...NONE, scripts: args.map(({ text }) => text.slice(text.indexOf("=") + 1)) };
    case "awk":
    case "gawk":
    case "mawk":
      return args.some(({ text }) => /system|\||getline/.test(text)) ? OPAQUE : NONE;
    default:
      if (LOOSE_WRAPPERS.has(name)) return everyReading(args);
      if (Object.hasOwn(RUN_BY, name)) return unwrapRun(RUN_BY[name] as string, args);
      return isInlineCode(name, args) ? OPAQUE : NONE;
  }
}

/** Unwraps the command after the verb: `uv run x`. */
function unwrapRun(verbs: string, args: readonly Word[]): Unwrapped {
  const at = args.findIndex(({ text }) => !text.startsWith("-"));
  if (at < 0 || !verbs.split(" ").includes(args[at]?.text ?? "")) return NONE;
  const rest = args.slice(at + 1);
  const isPlain = rest[0]?.text.startsWith("-") === false;
  return isPlain ? { ...NONE, commands: [{ words: rest, openEnded: false }] } : everyReading(rest);
}

/** Unwraps the command before `:::`. Arguments after it, or from the input, are added. */
function unwrapParallel(args: readonly Word[]): Unwrapped {
  const end = args.findIndex(({ text }) => text.startsWith("::::") || text.startsWith(":::"));
  const words = end < 0 ? args : args.slice(0, end);
  return { ...everyReading(words, true), opaque: true };
}

/** Treats every suffix of the words as a command, and every word with a blank in it as a script. */
function everyReading(args: readonly Word[], openEnded = false): Unwrapped {
  const scripts = args.filter(({ text }) => /\s/.test(text)).slice(0, MAX_ALIASES);
  return { ...everySuffix({ openEnded }, args), scripts: scripts.map(({ text }) => text) };
}

function textOf(words: readonly Word[]): string {
  return words.map((word) => word.text).join(" ");
}

function isInlineCode(name: string, args: readonly Word[]): boolean {
  const entry = INTERPRETERS.find(([program]) => program.test(name));
  if (!entry) return false;
  const operands = args.filter(({ text }) => !text.startsWith("-") || text === "-");
  const readsInput = operands.length === 0 || operands[0]?.text === "-";
  const asks = args.some(({ text }) => /^(?:-V|--version|-h|--help)$/.test(text));
  return (readsInput && !asks) || args.some(({ text }) => entry[1].test(text));
}

type OptionReading = "flag" | "takes_next" | "script_next" | "unsure" | { script: string };

function unwrapOptions(wrapper: Wrapper, args: readonly Word[]): Unwrapped {
  let at = 0;
  for (; at < args.length; at++) {
    const { text, known } = args[at] as Word;
    if (text === "--") {
      at += 1;
      break;
    }
    if (!text.startsWith("-") || text === "-" || !known) break;
    const option = readOption(wrapper, text);
    if (option === "unsure") return everySuffix(wrapper, args.slice(at + 1));
    if (typeof option === "object") return { ...NONE, scripts: [option.script] };
    if (option === "script_next") return { ...NONE, scripts: [args[at + 1]?.text ?? ""] };
    if (option === "takes_next") at += 1;
  }
  return afterOptions(wrapper, args.slice(at));
}

function readOption(wrapper: Wrapper, text: string): OptionReading {
  if (text.startsWith("--")) return readLong(wrapper, text.slice(2));
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] as string;
    const rest = text.slice(at + 1);
    if (letter === wrapper.script) return rest === "" ? "script_next" : { script: rest };
    if (wrapper.values?.includes(letter)) return rest === "" ? "takes_next" : "flag";
    if (!wrapper.flags?.includes(letter)) return "unsure";
  }
  return "flag";
}

function readLong(wrapper: Wrapper, text: string): OptionReading {
  const [name = "", value] = text.split(/=(.*)/s);
  if (name === "split-string" || name === "command" || name === "call")
    return value === undefined ? "script_next" : { script: value };
  if (value !== undefined || wrapper.longFlags?.includes(name)) return "flag";
  return wrapper.longValues?.includes(name) ? "takes_next" : "unsure";
}

/** Treats every suffix as the command: an unknown option may or may not take a value. */
function everySuffix(wrapper: Wrapper, args: readonly Word[]): Unwrapped {
  const commands = args.slice(0, MAX_SUFFIXES).map((_, from) => ({
    words: args.slice(from),
    openEnded: wrapper.openEnded ?? false,
  }));
  return { commands, scripts: [], opaque: true };
}

function afterOptions(wrapper: Wrapper, args: readonly Word[]): Unwrapped {
  let from = 0;
  while (wrapper.assignments && /^[A-Za-z_]\w*=/.test(args[from]?.text ?? "")) from += 1;
  const rest = args.slice(from + (wrapper.skip ?? 0));
  if (wrapper.joins) return { ...NONE, scripts: [textOf(rest)] };
  const isScript = ({ text }: Word) => text === `-${wrapper.script}`;
  const script = wrapper.namesUser
    ? args.findIndex(isScript)
    : rest[0] && isScript(rest[0])
      ? 0
      : -1;
  if (script >= 0) {
    const words = wrapper.namesUser ? args : rest;
    return { ...NONE, scripts: [words[script + 1]?.text ?? ""] };
  }
  return { ...NONE, commands: [{ words: rest, openEnded: wrapper.openEnded ?? false }] };
}

function unwrapShell(args: readonly Word[], input: string | undefined): Unwrapped {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as Word;
    const { text } = word;
    if (!word.known && !text.startsWith("-")) return OPAQUE;
    if (hasFlag(text, "c")) return scriptAfter(args.slice(at + 1));
    if (/^[-+][oO]$|^--(?:rcfile|init-file)$/.test(text)) at += 1;
    else if (hasFlag(text, "s")) break;
    else if (!/^[-+]./.test(text)) return NONE; // a script in a file
  }
  return { ...OPAQUE, scripts: input === undefined ? [] : [input] };
}

/** True for a group of short options with this letter, such as `-lc`. */
function hasFlag(option: string, letter: string): boolean {
  return option.includes(letter) && /^-[A-Za-z]+$/.test(option);
}

function scriptAfter(args: readonly Word[]): Unwrapped {
  const script = args.find(({ text }) => !/^[-+]/.test(text));
  if (!script) return OPAQUE;
  return { commands: [], scripts: [script.text], opaque: !script.known };
}

const FIND_EXEC = new Set([
  "-exec",
  "-execdir",
  "-ok",
  "-okdir",
  "-x",
  "-X",
  "--exec",
  "--exec-batch",
]);

function unwrapFind(args: readonly Word[]): Unwrapped {
  const commands: { words: readonly Word[]; openEnded: boolean }[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!FIND_EXEC.has(args[at]?.text ?? "")) continue;
    const from = at + 1;
    while (at < args.length && args[at]?.text !== ";" && args[at]?.text !== "+") at += 1;
    commands.push({ words: args.slice(from, at), openEnded: true });
  }
  return { ...NONE, commands };
}

/**
 * Unwraps git: `git -c alias.x=push x` is `git push`; `alias.x=!cmd` is a command;
 * some subcommands run others.
 */
function unwrapGit(name: string, words: readonly Word[]): Unwrapped {
  const args = words.slice(1);
  const commands: { words: readonly Word[]; openEnded: boolean }[] = [];
  const scripts: string[] = [];
  for (const [at, { text }] of args.entries()) {
    const value = /^alias\.[^=]+=(.*)$/s.exec(text.replace(/^(?:-c|--config-env=?)/, ""))?.[1];
    if (value === undefined || commands.length + scripts.length >= MAX_ALIASES) continue;
    if (value.startsWith("!")) scripts.push(value.slice(1));
    else {
      const all = ["git", ...value.trim().split(/\s+/)].map(known);
      commands.push({ words: [...all, ...args.slice(at + 2)], openEnded: false });
    }
  }
  const opaque = commands.length + scripts.length > 0;
  return { commands, scripts: [...scripts, ...scriptsOfGit(name, words)], opaque };
}

/** Options of git's subcommands whose value is shell text. */
const GIT_SCRIPTS: Readonly<Record<string, RegExp>> = {
  rebase: /^(?:-[A-Za-z]*x|--exec)(?:=|$)/,
  "filter-branch": /^--[a-z-]+-filter$/,
  difftool: /^(?:-x|--extcmd)(?:=|$)/,
};

function scriptsOfGit(name: string, words: readonly Word[]): string[] {
  const { subcommand, args = [] } = readGit(name, words) ?? {};
  const from = subcommand?.text ?? "";
  const first = args.findIndex(({ text }) => !text.startsWith("-"));
  const verb = args[first]?.text;
  if ((from === "submodule" && verb === "foreach") || (from === "bisect" && verb === "run")) {
    const rest = args.slice(first + 1);
    const start = rest.findIndex(({ text }) => !text.startsWith("-"));
    return start < 0 ? [] : [textOf(rest.slice(start))];
  }
  const option = Object.hasOwn(GIT_SCRIPTS, from) ? GIT_SCRIPTS[from] : undefined;
  return args
    .flatMap(({ text }, at) => {
      if (!option?.test(text)) return [];
      return [text.includes("=") ? text.slice(text.indexOf("=") + 1) : (args[at + 1]?.text ?? "")];
    })
    .slice(0, MAX_ALIASES);
}

function known(text: string): Word {
  return { text, known: true, loose: false, globs: false };
}
