/**
 * "Let two agents …": delegation by an orchestrator. It gives a task to a child session, waits
 * without polling, is woken when the child is done, gives the next task to a second one, and at the
 * end gives the person both results. Between two turns it knows only the conversation.
 */
import {
  end,
  excerpt,
  type MadeCall,
  play,
  type Scene,
  type Script,
  type Step,
  succeeded,
} from "../script.ts";
import { eventsIn, IS_CHILD_NOTICE, type WorkerEvent } from "./child-events.ts";
import { factsAbout } from "./page.ts";
import { topicIn } from "./web-page.ts";

const ASKS =
  /\b(two|several|some|other|more)\s+(agents?|children|helpers?|workers?|sessions?)\b|\bdelegat|\bsplit (it|this|the work)\b|\bhand (it|this|the work) (over|out|to)\b/i;

interface Task {
  title: string;
  brief(topic: string, before: string): string;
}

const TASKS: readonly Task[] = [
  {
    title: "Research",
    brief: (topic) =>
      `Collect the facts about ${topic}. Write them to facts.md, one per line. Report the facts themselves, so that somebody who cannot see your files can use them.`,
  },
  {
    title: "Page",
    brief: (topic, before) =>
      `Make a tiny web page about ${topic}. Use these facts:\n\n${before}\n\nReport the name of the file and what is on the page.`,
  },
];

export const delegate: Script = {
  name: "delegate",
  // Only this script plays notices: words of a child are never taken for a person's request.
  fits: ({ said, tools }) =>
    IS_CHILD_NOTICE.test(said) || (tools.has("spawn_session") && ASKS.test(said)),
  next(scene) {
    const story = progressOf(scene);
    if (IS_CHILD_NOTICE.test(scene.said)) return continueStory(scene, story);
    return begin(scene, 0, story ?? { topic: topicOf(scene.said), given: [] });
  },
};

interface DelegatedTask {
  sessionId: string;
  title: string;
  /** Result of the child; undefined while it is at work. */
  report?: string;
}

interface Progress {
  topic: string;
  /** Tasks delegated in earlier turns, in order. */
  given: DelegatedTask[];
}

/** Progress of the person's last request, whatever else was said since. */
function progressOf({ said, earlier }: Scene): Progress | undefined {
  const turns = [...earlier, { said, calls: [] }];
  const from = turns.findLastIndex(
    (turn) => !IS_CHILD_NOTICE.test(turn.said) && ASKS.test(turn.said),
  );
  const asked = turns[from];
  if (!asked) return undefined;
  const given: DelegatedTask[] = [];
  for (const turn of turns.slice(from)) {
    for (const { isDone, sessionId, quote } of eventsIn(turn.said)) {
      const task = given.find((one) => one.sessionId === sessionId && one.report === undefined);
      if (isDone && task) task.report = quote;
    }
    for (const call of turn.calls) {
      if (call.tool === "spawn_session" && succeeded(call))
        given.push({ sessionId: idIn(call), title: String(call.input.title ?? "") });
    }
  }
  return { topic: topicOf(asked.said), given };
}

function idIn({ result }: MadeCall): string {
  return /"sessionId"\s*:\s*"([^"]+)"/.exec(result?.text ?? "")?.[1] ?? "";
}

function topicOf(said: string): string {
  const studied =
    /\b(?:research|study|explore|look into|find out about)\s+(\S.{0,59}?)\s+(?:and|then)\b/i;
  return studied.exec(said)?.[1]?.replace(/[<>`"{}\\]/g, "") ?? topicIn(said);
}

function begin(scene: Scene, index: number, { topic, given }: Progress): Step {
  const task = TASKS[index] as Task;
  const before = given.at(-1)?.report ?? "";
  const words =
    index === 0
      ? `This is work for two agents: one child session researches ${topic}, then another makes the page. I start the first and wait until it is done.`
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

function continueStory(scene: Scene, story: Progress | undefined): Step {
  const events = eventsIn(scene.said);
  const isOurs = ({ sessionId }: WorkerEvent) =>
    story?.given.some((task) => task.sessionId === sessionId) === true;
  const closes = events.some((event) => event.isDone && isOurs(event));
  const bad = events.filter((event) => !event.isDone && !event.worksOn);
  if (story && closes && bad.length === 0) {
    const isAllDone = story.given.every(({ report }) => report !== undefined);
    if (isAllDone && story.given.length < TASKS.length)
      return begin(scene, story.given.length, story);
    if (isAllDone) return end(closing(story));
  }
  const words = events.map(({ words: said }) => said).join("\n\n");
  const isOpen = story?.given.some(({ report }) => report === undefined) === true;
  // A notice without a result does not end the wait for children that are still at work.
  if (isOpen && bad.length === 0 && scene.tools.has("wait_for_event"))
    return play(
      {
        stages: [{ say: words, call: { tool: "wait_for_event", input: {} } }],
        close: () => "I am waiting for the child session.",
      },
      scene,
    );
  return end(words || "I am not waiting for anything.");
}

function closing({ given }: Progress): string {
  const [research, page] = given;
  const title = page?.title || "the page";
  return `Both child sessions are done.\n\n**The research** says:\n\n${excerpt(research?.report ?? "")}\n\n**The page** is ready:\n\n${excerpt(page?.report ?? "")}\n\nTo see it, open *${title}*, then Preview. The header of each session shows its cost.`;
}

function couldNot(spawned: MadeCall | null): string {
  if (succeeded(spawned)) return "I am waiting for the child session.";
  return `I could not start a child session: ${excerpt(spawned?.result?.text ?? "", 3, 300)}`;
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
      { say: "Checking the file.", call: { tool: "bash", input: { command: "wc -l facts.md" } } },
    ];
    const close = ([written]: readonly (MadeCall | null)[]) =>
      succeeded(written)
        ? `These are the facts, also in \`facts.md\`:\n\n${content}`
        : `The file could not be written. These are the facts:\n\n${content}`;
    return play({ stages, close }, scene);
  },
};
