// Places of literals in the syntax: which of them are read by somebody, and by whom.
import ts from "typescript-compiler-api";
import type { Literal } from "./words.ts";

export type TextKind = "page" | "terminal" | "tool" | "refusal" | "other";

export interface Place {
  kind: TextKind;
  /** True where everything is a text, even a single lower-case word. */
  isCertain: boolean;
  /** True where a single word with a capital is a text. */
  mayBeWord: boolean;
}

/** Attributes and fields whose value is a text. */
const TEXT_NAMES = new Set([
  ...["title", "label", "placeholder", "alt", "hint", "help", "description", "summary", "headline"],
  ...["aria-label", "aria-description", "aria-roledescription", "aria-valuetext"],
  ...["word", "words", "note", "empty", "question", "sentence"],
]);
/** Attributes and fields whose value is never a text. */
const CODE_NAMES = new Set([
  ...["className", "class", "style", "d", "viewBox", "key", "id", "href", "to", "role", "type"],
  ...["queryKey", "path", "pattern", "tone", "look", "icon", "sql", "transform", "points", "allow"],
  ...["sandbox", "autoComplete", "rel", "accept", "content-type", "cache-control", "user-agent"],
]);
/** Calls whose arguments are never texts: class names, logs, patterns, statements. */
const CODE_CALLS = new Set([
  ...["clsx", "log", "debug", "info", "warn", "error", "trace", "fatal", "RegExp", "sql", "raw"],
  ...["querySelector", "querySelectorAll", "matchMedia", "useMedia", "require", "exec", "prepare"],
  ...["split", "join", "replace", "replaceAll", "startsWith", "endsWith", "includes", "indexOf"],
]);
/** Joins of words keep the texts of their other arguments. */
const HALF_CODE = new Set(["join", "replace", "replaceAll"]);
const DESCRIPTION_CALLS = new Set(["description", "summary", "describe", "option", "argument"]);

export function placeOf(node: Literal, file: string): Place | undefined {
  if (isComparedOrNamed(node)) return undefined;
  const holder = holderOf(node);
  if (holder.isCode) return undefined;
  const isPage = /\/ui\/|^src\/surfaces\/web\//.test(file);
  const isTerminal = /\/cli\//.test(file);
  const kind = holder.kind ?? (isPage ? "page" : isTerminal ? "terminal" : "other");
  const isFace = isPage || isTerminal;
  return {
    kind,
    isCertain: isFace && (holder.isText || isInsideJsx(node)),
    mayBeWord: isFace || holder.isText,
  };
}

/** Comparisons, cases, names of properties and indexes. */
function isComparedOrNamed(node: Literal): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) {
    const { kind } = parent.operatorToken;
    const isEquality =
      kind >= ts.SyntaxKind.EqualsEqualsToken && kind <= ts.SyntaxKind.ExclamationEqualsEqualsToken;
    return isEquality || kind === ts.SyntaxKind.InKeyword;
  }
  if (ts.isPropertyAssignment(parent)) return parent.name === node;
  return ts.isCaseClause(parent) || ts.isElementAccessExpression(parent) || ts.isEnumMember(parent);
}

interface Holder {
  isCode: boolean;
  isText: boolean;
  kind: TextKind | undefined;
}

const NO_TEXT: Holder = { isCode: true, isText: false, kind: undefined };

/** The nearest attribute, field, call or class around a literal decides about it. */
function holderOf(node: ts.Node): Holder {
  for (let at = node; at.parent !== undefined; at = at.parent) {
    const { parent } = at;
    if (ts.isJsxAttribute(parent)) return named(parent.name.getText());
    if (ts.isPropertyAssignment(parent)) return named(nameOf(parent.name));
    if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) return inCall(at, parent);
    if (ts.isFunctionLike(parent) || ts.isVariableDeclaration(parent)) break;
    if (ts.isThrowStatement(parent)) break;
  }
  return { isCode: false, isText: false, kind: undefined };
}

function named(name: string): Holder {
  if (CODE_NAMES.has(name) || name.startsWith("data-")) return NO_TEXT;
  const kind = name === "description" ? "tool" : undefined;
  return { isCode: false, isText: TEXT_NAMES.has(name), kind };
}

function nameOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : "";
}

function inCall(argument: ts.Node, call: ts.CallExpression | ts.NewExpression): Holder {
  const name = calledName(call);
  const isFirst = call.arguments?.[0] === argument;
  if (name === "Refusal") {
    const isSentence = call.arguments?.[2] === argument;
    return isSentence ? { isCode: false, isText: true, kind: "refusal" } : NO_TEXT;
  }
  if (name === "Error" || name === "TypeError") return NO_TEXT;
  if (CODE_CALLS.has(name) && (isFirst || !HALF_CODE.has(name))) return NO_TEXT;
  if (name === "describe") return { isCode: false, isText: true, kind: "tool" };
  return {
    isCode: false,
    isText: DESCRIPTION_CALLS.has(name) && !isFlag(argument),
    kind: undefined,
  };
}

/** Flags of a command, such as `--json`. */
function isFlag(argument: ts.Node): boolean {
  return ts.isStringLiteralLike(argument) && /^[-<[]/.test(argument.text);
}

function calledName({ expression }: ts.CallExpression | ts.NewExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : "";
}

/** True for a child of an element, also behind a condition: `{isOpen ? "Close" : "Open"}`. */
function isInsideJsx(node: ts.Node): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (ts.isJsxExpression(at)) return !ts.isJsxAttribute(at.parent);
    if (
      !ts.isConditionalExpression(at) &&
      !ts.isParenthesizedExpression(at) &&
      !(ts.isBinaryExpression(at) && at.operatorToken.kind !== ts.SyntaxKind.EqualsToken)
    )
      return false;
  }
  return false;
}
