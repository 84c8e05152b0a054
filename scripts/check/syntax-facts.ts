// Uses of names in the sources: written, read, searched, produced.
import ts from "typescript-compiler-api";
import type { Source } from "./ddl.ts";

export interface Facts {
  /** Properties that get a value other than an empty one. */
  written: Set<string>;
  read: Set<string>;
  /** Columns that a query compares or sorts by. */
  searched: Set<string>;
  /** Lists of states by their name. */
  states: Map<string, string[]>;
  /** Strings in places that make a value. */
  produced: Set<string>;
  settings: string[];
  settingsRead: Set<string>;
}

const CONFIG = "src/base/config.ts";

export function collectFacts(sources: readonly Source[]): Facts {
  const facts: Facts = {
    written: new Set(),
    read: new Set(),
    searched: new Set(),
    states: new Map(),
    produced: new Set(),
    settings: [],
    settingsRead: new Set(),
  };
  for (const source of sources) visit(source.tree, source, facts);
  return facts;
}

function visit(node: ts.Node, source: Source, facts: Facts): void {
  noteWrite(node, facts);
  noteRead(node, source, facts);
  noteQuery(node, facts);
  noteSql(node, source, facts);
  noteStates(node, source, facts);
  noteSettings(node, source, facts);
  node.forEachChild((child) => visit(child, source, facts));
}

/**
 * `null`, `0`, an empty text or list, and parameters of a statement do not count as writing a
 * column.
 */
function isEmptyValue(node: ts.Expression, name: string): boolean {
  if (node.kind === ts.SyntaxKind.NullKeyword) return true;
  if (ts.isNumericLiteral(node)) return node.text === "0";
  if (ts.isStringLiteral(node)) return node.text === "" || node.text === "[]" || node.text === "{}";
  // `p("column")` passes on the caller's value; under another name it is a value of the statement's
  // own.
  if (ts.isCallExpression(node))
    return /^(p|eb\.ref)\("(excluded\.)?(\w+)"/.exec(node.getText())?.[3] === name;
  return ts.isAsExpression(node) && isEmptyValue(node.expression, name);
}

function noteWrite(node: ts.Node, { written }: Facts): void {
  if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) {
    if (!isEmptyValue(node.initializer, node.name.text)) written.add(node.name.text);
  } else if (ts.isShorthandPropertyAssignment(node)) written.add(node.name.text);
  else if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) {
    const { left, right } = node;
    if (ts.isPropertyAccessExpression(left) && !isEmptyValue(right, left.name.text))
      written.add(left.name.text);
  } else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    if (ts.isPropertyAccessExpression(node.operand)) written.add(node.operand.name.text);
  }
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function noteRead(node: ts.Node, { file }: Source, { read, settingsRead }: Facts): void {
  const note = (name: string) => {
    read.add(name);
    if (file !== CONFIG) settingsRead.add(name);
  };
  if (ts.isPropertyAccessExpression(node)) {
    const { parent } = node;
    const isTarget =
      ts.isBinaryExpression(parent) &&
      parent.left === node &&
      parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
    if (!isTarget) note(node.name.text);
  } else if (ts.isBindingElement(node)) {
    const name = node.propertyName ?? node.name;
    if (ts.isIdentifier(name)) note(name.text);
  }
}

const SEARCHES = new Set([
  ...["where", "orderBy", "groupBy", "whereRef", "onRef", "on", "eb", "innerJoin", "leftJoin"],
  ...["having", "and", "or", "ref"],
]);
const SELECTS = new Set(["select", "max", "sum"]);
const STATEMENT = /\b(select|update|delete from|insert into|where|order by)\b/;
const WORDS = /[a-z_][a-z0-9_]*/gi;

/** Names in calls of the query builder. */
function noteQuery(node: ts.Node, { read, searched }: Facts): void {
  if (!ts.isStringLiteral(node) || !ts.isCallExpression(node.parent)) return;
  const called = node.parent.expression;
  const name = ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
  const column = node.text.split(".").at(-1) ?? "";
  if (SEARCHES.has(name)) searched.add(column);
  if (SEARCHES.has(name) || SELECTS.has(name)) read.add(column);
}

/** Names in literal SQL. */
function noteSql(node: ts.Node, { file }: Source, { read, written, searched }: Facts): void {
  if (!ts.isLiteralExpression(node) && !ts.isTemplateMiddleOrTemplateTail(node)) {
    if (!ts.isTemplateHead(node)) return;
  }
  if (/(migrations|schema)\.ts$/.test(file)) return;
  const { text } = node as ts.LiteralLikeNode;
  if (!isTagged(node) && !STATEMENT.test(text)) return;
  for (const [word] of text.matchAll(WORDS)) {
    read.add(word);
    searched.add(word);
    written.add(word);
  }
}

/** True for a part of a template that is tagged as SQL. */
function isTagged(node: ts.Node): boolean {
  const template = ts.findAncestor(node, ts.isTaggedTemplateExpression);
  return template?.tag.getText() === "sql";
}

/** `export const TURN_STATES = ["a", "b"] as const` in a contract between processes or features. */
function noteStates(node: ts.Node, { file }: Source, facts: Facts): void {
  if (ts.isStringLiteral(node) && isProduced(node)) facts.produced.add(node.text);
  const isContract = /src\/protocol\/|\/contract\.ts$/.test(file);
  if (!isContract || !ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return;
  const list =
    node.initializer && ts.isAsExpression(node.initializer) && node.initializer.expression;
  if (
    !list ||
    !ts.isArrayLiteralExpression(list) ||
    !/STATES|STATUSES|OUTCOMES|ACTIVITIES|LIFECYCLES|FATES|TYPES|KINDS|EVENTS|ACTIONS|SEVERITIES$/.test(
      node.name.text,
    )
  )
    return;
  const items = list.elements.filter(ts.isStringLiteral).map(({ text }) => text);
  facts.states.set(node.name.text, items);
}

/** Compared, listed and typed strings produce nothing. */
function isProduced(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isLiteralTypeNode(parent) || ts.isCaseClause(parent)) return false;
  if (ts.isArrayLiteralExpression(parent)) return !isDeclaredList(parent);
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (!ts.isBinaryExpression(parent)) return true;
  return !COMPARISONS.has(parent.operatorToken.kind);
}
const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

function isDeclaredList({ parent }: ts.ArrayLiteralExpression): boolean {
  return (
    ts.isAsExpression(parent) ||
    (ts.isNewExpression(parent) && parent.expression.getText() === "Set")
  );
}

/** Fields of the interface `Config`. */
function noteSettings(node: ts.Node, { file }: Source, { settings }: Facts): void {
  if (file !== CONFIG || !ts.isInterfaceDeclaration(node) || node.name.text !== "Config") return;
  for (const member of node.members)
    if (member.name && ts.isIdentifier(member.name)) settings.push(member.name.text);
}
