// Finds the sentences that a source file shows to a person or a model. Heuristic, by syntax alone:
// JSX text, known attributes and fields, arguments of refusals and descriptions, and other literals
// that read like a sentence.
import ts from "typescript-compiler-api";
import { isCode } from "./looks-like-code.ts";
import { type Place, placeOf, type TextKind } from "./text-places.ts";
import { isLiteral, type Literal, wordsOf, wordsOfElement } from "./words.ts";

export interface ShownText {
  file: string;
  line: number;
  kind: TextKind;
  text: string;
}

/** All texts of one file, in source order. Expressions stand in braces: `{count} sessions`. */
export function listTexts(file: string, source: string): ShownText[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: ShownText[] = [];
  const note = (node: ts.Node, kind: TextKind, text: string) => {
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
    found.push({ file, line: line + 1, kind, text });
  };
  const visit = (node: ts.Node): void => {
    if (isWithoutTexts(node)) return;
    if (isSentenceElement(node)) note(node, "page", wordsOfElement(node));
    if (isLiteral(node)) {
      const place = placeOf(node, file);
      const text = wordsOf(node);
      if (place !== undefined && isShown(text, place)) note(node, place.kind, text);
      visitInsertions(node, visit);
      return;
    }
    node.forEachChild(visit);
  };
  visit(tree);
  return found;
}

/** Visits what a template or a sum inserts: a choice of words there is a text too. */
function visitInsertions(node: Literal, visit: (node: ts.Node) => void): void {
  if (ts.isTemplateExpression(node)) for (const span of node.templateSpans) visit(span.expression);
  if (ts.isBinaryExpression(node)) {
    for (const side of [node.left, node.right]) {
      if (isLiteral(side)) visitInsertions(side, visit);
      else visit(side);
    }
  }
}

/** Imports, types and tagged templates (SQL) hold no texts. */
function isWithoutTexts(node: ts.Node): boolean {
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTaggedTemplateExpression(node)
  );
}

/** An element with words of its own. Elements inside it are parts of its sentence. */
function isSentenceElement(node: ts.Node): node is ts.JsxElement | ts.JsxFragment {
  if (!ts.isJsxElement(node) && !ts.isJsxFragment(node)) return false;
  const hasWords = (element: ts.JsxElement | ts.JsxFragment) =>
    element.children.some((child) => ts.isJsxText(child) && /\p{L}/u.test(child.text));
  if (!hasWords(node)) return false;
  const { parent } = node;
  const isPart = (ts.isJsxElement(parent) || ts.isJsxFragment(parent)) && hasWords(parent);
  return !isPart;
}

function isShown(text: string, { isCertain, mayBeWord }: Place): boolean {
  if (!/\p{L}{2}/u.test(text.replaceAll(/\{[^}]*\}/g, ""))) return false;
  if (isCertain) return true;
  if (isCode(text)) return false;
  const isSentence = /\p{L}\S*\s+\S*\p{L}/u.test(text.replaceAll(/\{[^}]*\}/g, "x"));
  return isSentence || (mayBeWord && /^\p{Lu}[\p{Ll}-]+…?$/u.test(text));
}
