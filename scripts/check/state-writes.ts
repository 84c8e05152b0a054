// Looks for states of sessions, prompts and runs that are set outside of `engine/transitions/`. It
// reads syntax and goes by names: the columns are readonly where rows are declared, so the type checker
// finds plain assignments, and this finds what gets round it: rows that are written out, rows that are
// copied into, statements. What it cannot see is a value that travels through another name.
import { globSync, readFileSync } from "node:fs";
import ts from "typescript-compiler-api";

const HOME = "src/engine/transitions/";
/** Files that declare rows. */
const SCHEMA = /^src\/engine\/.*schema\.ts$/;

/** Columns of each kind of row that only a transition sets. */
const OWNED: Readonly<Record<string, readonly string[]>> = {
  SessionRow: ["lifecycle", "incarnation", "run_state", "last_outcome"],
  PromptRow: ["state", "outcome"],
  RunRow: [
    ...["state", "outcome", "runner_id", "runner_boot", "server_boot", "fence", "lease_until"],
  ],
};
const COLUMNS: ReadonlySet<string> = new Set(Object.values(OWNED).flat());
const ROW = /\b(SessionRow|PromptRow|RunRow)\b/;
/** Names that such rows have in our code. */
const ROW_NAMES = /^(run|prompt|row|session|waiting|found|merged)$/;
/** Functions of transitions that return columns to set. */
const TRANSITIONS = /^(transition|show)[A-Z]\w*$/;
const WRITERS = /^(insert|save)(Session|Prompt|Run|RunAndLease)$/;
const STATEMENT = /\bupdate (sessions|prompts|runs) set\b/;

/** Files that may set a state by a statement, with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  "src/engine/migrations.ts": "brings old rows into the form of today",
  "src/engine/runs/queries.ts": "renews leases, which is no change of state",
  "src/surfaces/cli/database/fence-off.ts": "works on a restored database while no server runs",
};

const found: string[] = [];
for (const file of globSync("src/**/*.ts")) {
  if (
    file.startsWith(HOME) ||
    /\.test\.ts$|\/testing\/|\/fake-|\.contract\.ts$|\/(web|ui)\//.test(file)
  )
    continue;
  const tree = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  visit(tree, (node, message) => {
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${file}:${line + 1} ${message}; use ${HOME}`);
  });
  if (SCHEMA.test(file)) found.push(...writableColumns(file, tree));
}
for (const line of found) console.log(line);
if (found.length > 0) process.exit(1);

type Report = (node: ts.Node, message: string) => void;

function visit(node: ts.Node, report: Report): void {
  checkAssignment(node, report);
  checkCopy(node, report);
  checkRow(node, report);
  checkStatement(node, report);
  node.forEachChild((child) => visit(child, report));
}

/** `run.state = …` */
function checkAssignment(node: ts.Node, report: Report): void {
  if (!ts.isBinaryExpression(node) || !isAssignment(node.operatorToken.kind)) return;
  if (!ts.isPropertyAccessExpression(node.left) || !COLUMNS.has(node.left.name.text)) return;
  if (isRowName(node.left.expression)) report(node, `${node.left.getText()} is assigned`);
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** `Object.assign(run, …)` of anything but what a transition returns. */
function checkCopy(node: ts.Node, report: Report): void {
  if (!ts.isCallExpression(node) || node.expression.getText() !== "Object.assign") return;
  const [target, ...sources] = node.arguments;
  if (!target || !isRowName(target)) return;
  for (const source of sources)
    if (!isTransition(source)) report(node, `${target.getText()} is copied into`);
}

function isTransition(node: ts.Node): boolean {
  return ts.isCallExpression(node) && TRANSITIONS.test(node.expression.getText());
}

function isRowName(node: ts.Expression): boolean {
  const name = ts.isPropertyAccessExpression(node) ? node.name.text : node.getText();
  return ROW_NAMES.test(name);
}

/** A row that is written out with a state of its own. */
function checkRow(node: ts.Node, report: Report): void {
  if (!ts.isObjectLiteralExpression(node)) return;
  const columns = node.properties.flatMap(({ name }) =>
    name && ts.isIdentifier(name) && COLUMNS.has(name.text) ? [name.text] : [],
  );
  if (columns.length === 0) return;
  const row = rowTypeOf(node);
  const own = columns.filter((column) => (OWNED[row] ?? []).includes(column));
  if (own.length > 0) report(node, `a ${row} is written out with ${own.join(", ")}`);
  if (isUpdate(node) && !isPassedThrough(node))
    report(node, `a statement sets ${columns.join(", ")}`);
}

/** The kind of row that is expected where this literal stands, as far as the syntax says it. */
function rowTypeOf(literal: ts.ObjectLiteralExpression): string {
  const { parent } = literal;
  if (ts.isCallExpression(parent))
    return WRITERS.exec(parent.expression.getText())?.[2] ? rowOf(parent) : "";
  if (
    ts.isVariableDeclaration(parent) ||
    ts.isAsExpression(parent) ||
    ts.isSatisfiesExpression(parent)
  )
    return ROW.exec(parent.type?.getText() ?? "")?.[1] ?? "";
  const made = ts.isReturnStatement(parent) || ts.isParenthesizedExpression(parent);
  if (!made && !ts.isArrowFunction(parent)) return "";
  const type = ts.findAncestor(literal, isFunction)?.type?.getText() ?? "";
  // Parts of rows are read by everybody; whole ones are made.
  return /^(Promise<)?(SessionRow|PromptRow|RunRow)\b/.exec(type)?.[2] ?? "";
}

function rowOf({ expression }: ts.CallExpression): string {
  const name = WRITERS.exec(expression.getText())?.[2] ?? "";
  return `${name.replace("AndLease", "")}Row`;
}

function isFunction(node: ts.Node): node is ts.FunctionDeclaration | ts.ArrowFunction {
  return ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isMethodDeclaration(node);
}

/** The argument of `.set(…)` in an update of one of the tables. */
function isUpdate({ parent }: ts.ObjectLiteralExpression): boolean {
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression))
    return false;
  const { name, expression } = parent.expression;
  const isTable = /updateTable\("(sessions|prompts|runs)"\)/.test(expression.getText());
  return name.text === "set" && isTable && !(parent.getSourceFile().fileName in KNOWN);
}

/** `state: p("state")` hands on what the row holds. */
function isPassedThrough({ properties }: ts.ObjectLiteralExpression): boolean {
  return properties.every((property) => {
    if (!ts.isPropertyAssignment(property) || !COLUMNS.has(property.name.getText())) return true;
    return property.initializer.getText() === `p("${property.name.getText()}")`;
  });
}

/** `update runs set state = …` in SQL. */
function checkStatement(node: ts.Node, report: Report): void {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  if (!isText || node.getSourceFile().fileName in KNOWN) return;
  const text = node.getText();
  if (!STATEMENT.test(text)) return;
  const set = [...COLUMNS].filter((column) =>
    new RegExp(`\\b${column} = `).test(text.split(" where ")[0] ?? ""),
  );
  if (set.length > 0) report(node, `a statement sets ${set.join(", ")}`);
}

/** Columns that the type checker would let anybody assign. */
function writableColumns(file: string, tree: ts.SourceFile): string[] {
  return tree.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) =>
    members.filter(ts.isPropertySignature).flatMap((member) => {
      const column = member.name.getText();
      const isOwned = OWNED[name.text]?.includes(column) ?? false;
      const isReadonly = member.modifiers?.some(
        ({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword,
      );
      return isOwned && !isReadonly ? [`${file} ${name.text}.${column} is not readonly`] : [];
    }),
  );
}
