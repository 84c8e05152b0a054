/**
 * "Let two agents …": what an orchestrator is for. It gives a task to a child session, waits without
 * looking, is woken when the child is done, gives the next task to a second one, and at the end tells
 * the person what both said. Between two turns it knows only what stands in the conversation.
 */
import {
  type Exchange,
  end,
  excerpt,
  type MadeCall,
  play,
  type Scene,
  type Script,
  type Step,
  succeeded,
} from "../script.ts";
import { factsAbout } from "./page.ts";
import { topicIn } from "./web-page.ts";

const ASKS =
  /\b(two|several|some|other|more)\s+(agents?|children|helpers?|workers?|sessions?)\b|\bdelegat|\bsplit (it|this|the work)\b|\bhand (it|this|the work) (over|out|to)\b/i;
const IS_NEWS = /^\[orchestration\]/;

interface Task {
  title: string;
  brief(topic: string, before: string): string;
}

const TASKS: readonly Task[] = [
  {
    title: "Research",
    brief: (topic) =>
      `Collect the facts about ${topic}. Write them to facts.md, one a line. Report the facts themselves, so that somebody who cannot see your files can use them.`,
  },
  {
    title: "Page",
    brief: (topic, before) =>
      `Make a tiny web page about ${topic}. Use these facts:\n\n${before}\n\nReport the name of the file and what is on the page.`,
  },
];

export const delegate: Script = {
  name: "delegate",
  fits: (scene) =>
    scene.tools.has("spawn_session") &&
    (IS_NEWS.test(scene.said) ? storyOf(scene) !== undefined : ASKS.test(scene.said)),
  next(scene) {
    const story = storyOf(scene);
    if (!story) return end("There is nothing I wait for.");
    return IS_NEWS.test(scene.said) ? goOn(scene, story) : begin(scene, 0, story);
  },
};

interface Told {
  topic: string;
  /** Tasks given out in turns before this one. */
  given: number;
  /** What came back, in order. */
  news: string[];
}

/** What the person asked for last, and how far it has come since. */
function storyOf({ said, earlier, calls }: Scene): Told | undefined {
  const turns: Exchange[] = [...earlier, { said, calls }];
  const from = turns.findLastIndex((turn) => !IS_NEWS.test(turn.said));
  const asked = turns[from];
  if (!asked || !ASKS.test(asked.said)) return undefined;
  const since = turns.slice(from, -1).flatMap((turn) => turn.calls);
  return {
    topic: topicOf(asked.said),
    given: since.filter((call) => call.tool === "spawn_session" && succeeded(call)).length,
    news: turns.slice(from + 1).map((turn) => turn.said),
  };
}

function topicOf(said: string): string {
  const studied =
    /\b(?:research|study|explore|look into|find out about)\s+(.{1,60}?)\s+(?:and|then)\b/i;
  return studied.exec(said)?.[1]?.replace(/[<>`"{}\\]/g, "") ?? topicIn(said);
}

function begin(scene: Scene, index: number, { topic, news }: Told): Step {
  const task = TASKS[index] as Task;
  const before = quotedIn(news.at(-1) ?? "");
  const words =
    index === 0
      ? `This is work for two: one child session finds out about ${topic}, then another makes the page. I start the first and wait until it is done.`
      : "The first is done. Its findings go to the second child session, and I wait again.";
  return play(
    {
      stages: [
        {
          say: words,
          call: {
            tool: "spawn_session",
            input: { title: `${task.title}: ${topic}`, prompt: task.brief(topic, before) },
          },
          isNeeded: true,
        },
        { say: "", call: { tool: "wait_for_event", input: {} } },
      ],
      close: ([spawned]) => couldNot(spawned ?? null),
    },
    scene,
  );
}

function goOn(scene: Scene, story: Told): Step {
  if (/worker\.ask_user/.test(scene.said))
    return end("A child session asks something. Open it and answer it there, please.");
  const isOver = !/worker\.ended[^\n]*\(completed\)/.test(scene.said);
  if (isOver) return end(`A child session did not come to its end:\n\n${excerpt(scene.said)}`);
  if (story.given < TASKS.length) return begin(scene, story.given, story);
  const [facts = "", page = ""] = story.news.map(quotedIn);
  return end(
    `Both child sessions are done.\n\n**The research** says:\n\n${excerpt(facts)}\n\n**The page** is made:\n\n${excerpt(page)}\n\nOpen either of them in the tree to see its files and what it cost.`,
  );
}

function couldNot(spawned: MadeCall | null): string {
  if (succeeded(spawned)) return "I wait for the child session.";
  return `I could not start a child session: ${excerpt(spawned?.result?.text ?? "", 3, 300)}`;
}

/** What a child said stands quoted in the news of it. */
function quotedIn(news: string): string {
  return news
    .split("\n")
    .flatMap((line) => (line.startsWith("> ") || line === ">" ? [line.slice(2)] : []))
    .join("\n")
    .trim();
}

const COLLECTS = /\bcollect\b[^.?!]*\bfacts\b/i;

export const collectFacts: Script = {
  name: "collect-facts",
  fits: ({ said }) => COLLECTS.test(said),
  next(scene) {
    const facts = factsAbout(topicIn(scene.said));
    const content = `${facts.map((fact) => `- ${fact}`).join("\n")}\n`;
    const stages = [
      {
        say: "I write down what I know.",
        call: { tool: "write", input: { path: "facts.md", content } },
        isNeeded: true,
      },
      { say: "A look at the file.", call: { tool: "bash", input: { command: "wc -l facts.md" } } },
    ];
    const close = ([written]: readonly (MadeCall | null)[]) =>
      succeeded(written)
        ? `These are the facts, also in \`facts.md\`:\n\n${content}`
        : `The file could not be written. These are the facts:\n\n${content}`;
    return play({ stages, close }, scene);
  },
};
