/**
 * "Make me a web page about …": the story for newcomers. A plan, a file, a check, one step that
 * needs an approval, and an end that is true whichever way the approval went.
 */
import {
  excerpt,
  type MadeCall,
  play,
  type Scene,
  type Script,
  type Stage,
  succeeded,
} from "../script.ts";
import { renderPage } from "./page.ts";

const FILE = "index.html";
/** Outside of the workspace: the default policy asks before such a folder is deleted. */
const DRAFTS = "/tmp/muster-demo-drafts";
const MAX_TOPIC_CHARS = 60;
const ASKS = /\b(web ?page|web ?site|landing page|html page|home ?page|page about)\b/i;

export const webPage: Script = {
  name: "web-page",
  fits: ({ said }) =>
    ASKS.test(said) && /\b(make|build|create|write|design|show|want|give|need)\b/i.test(said),
  next: (scene) => play({ stages: stagesFor(topicIn(scene.said)), close }, scene),
};

const PLAN = ["Write the page", "Check that it is complete", "Clean up my scratch folder"];

function stagesFor(topic: string): Stage[] {
  return [
    {
      say: `A page about ${topic}: I write one file with its style inside, check it, and clean up.`,
      call: todo(0),
    },
    {
      say: "First the page itself.",
      call: { tool: "write", input: { path: FILE, content: renderPage(topic) } },
      isNeeded: true,
    },
    {
      say: "Now I check that it is complete.",
      call: { tool: "bash", input: { command: `wc -c ${FILE} && ls -la && tail -n 1 ${FILE}` } },
    },
    {
      say: "Finally I clean up my scratch folder. It is outside the workspace and this deletes all of it, so Muster asks you first; either answer is fine.",
      call: { tool: "bash", input: { command: `rm -rf ${DRAFTS}` } },
    },
    { say: "", call: todo(PLAN.length) },
  ];
}

function todo(doneCount: number): Stage["call"] {
  return ({ calls }: Scene) => {
    const wasDeleted = succeeded(calls.findLast(({ tool }) => tool === "bash"));
    const items = PLAN.map((text, index) => {
      if (doneCount === PLAN.length) {
        const isOpen = index === PLAN.length - 1 && !wasDeleted;
        return { text, state: isOpen ? "pending" : "done" };
      }
      return { text, state: index === doneCount ? "in_progress" : "pending" };
    });
    return { tool: "todo", input: { items } };
  };
}

function close(
  [, written, checked, deleted]: readonly (MadeCall | null)[],
  { said }: Scene,
): string {
  if (!succeeded(written)) {
    const why = excerpt(written?.result?.text ?? "there was no result", 3, 300);
    return `I could not write the page, so there is nothing to show: ${why}`;
  }
  const bytes = /\b(\d+) index\.html/.exec(checked?.result?.text ?? "")?.[1];
  const size = bytes ? ` (${bytes} bytes)` : "";
  return [
    `Your page about ${topicIn(said)} is ready: \`${FILE}\`${size}. Open **Preview** to look at it, and the **Changes** panel to see what I wrote.`,
    tidyingOf(deleted ?? null),
    "A real model would continue from here: ask it for other colours, more text, a second page.",
  ]
    .filter(Boolean)
    .join("\n\n");
}

function tidyingOf(deleted: MadeCall | null): string {
  if (!deleted) return "";
  if (succeeded(deleted)) return "My scratch folder is cleaned up, as you allowed.";
  return "My scratch folder was left as it is: the deletion was denied or failed, and I did not try another way.";
}

export function topicIn(said: string): string {
  const rest = /\b(?:about|on|for)\s+(?!me\b)(.+)/is.exec(said)?.[1] ?? "";
  const words = rest
    .split(/[.,;:!?\n]|\s+(?:and|then)\s+(?:show|open|let|then|tell|give)\b/i)[0]
    ?.replace(/[<>`"{}\\]/g, "")
    .trim();
  const topic = words?.slice(0, MAX_TOPIC_CHARS).trim();
  return topic ? topic : "otters";
}
