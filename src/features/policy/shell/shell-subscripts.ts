/**
 * Bash evaluates more than its syntax shows. Builtins that take the name of a variable evaluate a
 * subscript in it, and arithmetic evaluates the values of variables again: a quoted `a[$(cmd)]` runs
 * `cmd`. A subscript or a value that is not a plain number is therefore not trusted.
 */
import { evaluatesNames } from "./shell-arithmetic.ts";
import type { Word } from "./shell-lexer.ts";

/** A name with nothing in it to evaluate. */
const PLAIN_NAME = /^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/;
const PLAIN_ASSIGNMENT = /^[A-Za-z_]\w*(?:\[\d+\])?\+?=/;
const HAS_SUBSCRIPT = /\w\[(?!(?:\d+|[@*])\])/;

/** Attributes that make bash evaluate every value: integers, and references to other names. */
const EVALUATING_OPTION = /^[-+]\w*[in]/;

/** True if an assignment evaluates a subscript. */
export function evaluatesTarget(assignment: string): boolean {
  return !PLAIN_ASSIGNMENT.test(assignment);
}

/** Lists the arguments of a builtin that bash may evaluate and that are not plain. */
export function evaluatedArguments(words: readonly Word[]): Word[] {
  const [first, ...args] = words;
  const find = first && Object.hasOwn(BUILTINS, first.text) ? BUILTINS[first.text] : undefined;
  // A glob becomes file names, which may be anything.
  return find ? find(args.map((word) => ({ ...word, known: word.known && !word.globs }))) : [];
}

type FindEvaluated = (args: readonly Word[]) => Word[];

const notPlain: FindEvaluated = (args) =>
  args.filter(({ text, known }) => !known || HAS_SUBSCRIPT.test(text));

/**
 * Finds the target of `printf`. Options stand before the format, and the last one counts:
 * `-v name`, `-vname`.
 */
const printfTarget: FindEvaluated = (args) => {
  for (let at = 0; at < args.length; at++) {
    const option = args[at] as Word;
    if (!option.known) return [option];
    if (!option.text.startsWith("-v")) return [];
    const name = option.text === "-v" ? args[++at] : { ...option, text: option.text.slice(2) };
    if (name && !isOwnName(name)) return args.slice(at);
  }
  return [];
};

/** Finds names tested with `-v` and `-R`. An unknown word may turn out to be one of these options. */
const testedNames: FindEvaluated = (args) => {
  const looksUp = args.some(({ text, known }) => !known || text === "-v" || text === "-R");
  return looksUp ? notPlain(args).filter(({ text }) => text !== "-v") : [];
};

const all: FindEvaluated = (args) => [...args];

const withCallback: FindEvaluated = (args) =>
  args.some(({ text, known }) => !known || /^-\w*C/.test(text)) ? [...args] : notPlain(args);

const declared: FindEvaluated = (args) => {
  const evaluates = args.some(({ text, known }) => !known || EVALUATING_OPTION.test(text));
  const odd = args.filter((word) => !isPlainDeclaration(word));
  return odd.length === 0 && evaluates ? args.slice(0, 1) : odd;
};

/**
 * True if a declaration evaluates nothing. Its value counts too: it may be a list, or go to a variable
 * that holds numbers, such as `OPTIND`.
 */
function isPlainDeclaration({ text, known }: Word): boolean {
  const target = PLAIN_ASSIGNMENT.exec(text)?.[0];
  if (target !== undefined)
    return known ? !/[[$`(]/.test(text.slice(target.length)) : !text.includes("[");
  return known && (/^[-+]/.test(text) || PLAIN_NAME.test(text));
}

/**
 * True for a plain name without capitals.
 * Names in capitals are bash's own, and bash evaluates the values of some.
 */
function isOwnName({ text, known }: Word): boolean {
  return known && PLAIN_NAME.test(text) && !/[A-Z]/.test(text);
}

const BUILTINS: Readonly<Record<string, FindEvaluated>> = {
  printf: printfTarget,
  test: testedNames,
  "[": testedNames,
  "[[": (args) => args.filter(({ text, known }) => !known || /[A-Za-z_]/.test(text)),
  let: (args) => args.filter(({ text, known }) => !known || evaluatesNames(text)),
  declare: declared,
  typeset: declared,
  local: declared,
  export: declared,
  readonly: declared,
  read: notPlain,
  unset: notPlain,
  mapfile: withCallback,
  readarray: withCallback,
  getopts: notPlain,
  wait: notPlain,
  // These builtins run their arguments, or make bash run them later.
  ...Object.fromEntries(
    ["compgen", "complete", "bind", "fc", "enable", "hash"].map((name) => [name, all]),
  ),
};
