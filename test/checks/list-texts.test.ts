/** The list of texts holds what is shown, and leaves code out. */
import { expect, it } from "vitest";
import { listTexts } from "../../scripts/texts/list-texts.ts";

const textsIn = (file: string, source: string) =>
  listTexts(file, source).map(({ line, kind, text }) => `${line} ${kind}: ${text}`);

const PAGE = `
import { Plus } from "./some words.tsx";
const LABELS: Record<"a b", string> = { open: "Open", shut: "shut for now" };
const STYLE = "flex items-center gap-2 text-ink-soft";
export function Card({ count, name }: { count: number; name: string }) {
  if (name === "no such name") return null;
  return (
    <section className="px-4 py-2" title="Sessions of a day">
      <Plus size={3} />
      <p>
        You have <b>{count}</b> sessions. <Link to="/some where">Read
        them</Link>
      </p>
      <Button label={\`Remove \${name}\`} data-kind="of a kind">{count > 1 ? "all" : "one"}</Button>
      <em>{sql\`select words from nowhere\`}</em>
    </section>
  );
}
`;

it("lists the texts of a page, a sentence at a time", () => {
  expect(textsIn("src/features/cards/ui/card.tsx", PAGE)).toEqual([
    "3 page: Open",
    "3 page: shut for now",
    "8 page: Sessions of a day",
    "10 page: You have {count} sessions. Read them",
    "14 page: Remove {name}",
    "14 page: all",
    "14 page: one",
  ]);
});

const SERVER = `
export const tool = { name: "a_tool", description: "Lists your " + "cards.", schema: text().describe("Number") };
export function check(ok: boolean, id: string) {
  log.warn({ id }, "a card was lost");
  if (!ok) throw new Refusal("invalid", "not_a_card", \`No card \${id}. Check the id.\`);
  if (id === "") throw new Error("a bug in a card");
  run("git -C . status", "Checks the card");
}
`;

it("lists tool descriptions and refusals, but no logs, bugs and commands", () => {
  expect(textsIn("src/features/cards/tools.ts", SERVER)).toEqual([
    "2 tool: Lists your cards.",
    "2 tool: Number",
    "5 refusal: No card {id}. Check the id.",
    "7 other: Checks the card",
  ]);
});

it("lists the descriptions of a command, and not its flags", () => {
  const source = `program.command("ls").description("Lists cards.").option("--all <x>", "also old ones");`;
  expect(textsIn("src/features/cards/cli/ls.ts", source)).toEqual([
    "1 terminal: Lists cards.",
    "1 terminal: also old ones",
  ]);
});
