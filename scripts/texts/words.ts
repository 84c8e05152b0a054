// Renders literals and JSX as a reader sees them, with expressions in braces.
import ts from "typescript-compiler-api";

/** A string, a template, or literals joined with `+`. */
export type Literal = ts.StringLiteralLike | ts.TemplateExpression | ts.BinaryExpression;

export function isLiteral(node: ts.Node): node is Literal {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken)
    return false;
  return isLiteral(node.left) || isLiteral(node.right);
}

export function wordsOf(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return flat(node.text);
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(
      ({ expression, literal }) => braced(expression) + literal.text,
    );
    return flat(node.head.text + spans.join(""));
  }
  if (isLiteral(node) && ts.isBinaryExpression(node))
    return wordsOf(node.left) + wordsOf(node.right);
  return braced(node);
}

/** The sentence of an element, with the words of the elements inside it. */
export function wordsOfElement(element: ts.JsxElement | ts.JsxFragment): string {
  return flat(element.children.map(wordsOfChild).join("")).trim();
}

function wordsOfChild(child: ts.JsxChild): string {
  if (ts.isJsxText(child)) return trimLines(child.text);
  if (ts.isJsxElement(child) || ts.isJsxFragment(child))
    return child.children.map(wordsOfChild).join("");
  if (ts.isJsxSelfClosingElement(child)) return wordsOfComponent(child);
  if (child.expression === undefined) return "";
  const { expression } = child;
  return ts.isStringLiteralLike(expression) ? expression.text : braced(expression);
}

/** A component that shows a value stands in the sentence: `<Revealed text={name} />`. Icons do not. */
function wordsOfComponent({ attributes, tagName }: ts.JsxSelfClosingElement): string {
  const showsValue = attributes.properties.some(
    ({ name }) => name !== undefined && /^(text|value|name|at)$/.test(name.getText()),
  );
  return showsValue ? `{${tagName.getText()}}` : "";
}

/** JSX drops line breaks with the blanks around them, and joins lines with one blank. */
function trimLines(text: string): string {
  const lines = text.split("\n");
  return lines
    .map((line, at) => {
      const start = at === 0 ? line : line.trimStart();
      return at === lines.length - 1 ? start : start.trimEnd();
    })
    .filter((line) => line !== "")
    .join(" ");
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** An expression by its last name: `{session.title}` is `{title}`. */
function braced(expression: ts.Expression): string {
  if (ts.isParenthesizedExpression(expression)) return braced(expression.expression);
  const names = expression.getText().match(/[A-Za-z_]\w*/g);
  const isShort = ts.isIdentifier(expression) || ts.isPropertyAccessExpression(expression);
  if (isShort) return `{${names?.at(-1) ?? "…"}}`;
  if (ts.isCallExpression(expression)) return `{${calledName(expression)}}`;
  return "{…}";
}

function calledName({ expression }: ts.CallExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : "…";
}
