/** "Ask me …": a question to the person, and a file made of the answer. */
import {
  excerpt,
  fenced,
  type MadeCall,
  play,
  type Scene,
  type Script,
  type Stage,
  succeeded,
} from "../script.ts";

const COLOURS = ["Blue", "Green", "Orange"];
const FILE = "answer.md";

export const askMe: Script = {
  name: "ask-me",
  fits: ({ said }) => /\bask me\b/i.test(said),
  next: (scene) => play({ stages: [ask(scene), keep], close }, scene),
};

function ask({ said }: Scene): Stage {
  const question = questionIn(said);
  const options = /colou?r/i.test(question) ? { options: COLOURS.map((label) => ({ label })) } : {};
  return {
    say: "I have a question for you.",
    call: { tool: "ask_user_question", input: { questions: [{ question, ...options }] } },
    isNeeded: true,
  };
}

const keep: Stage = {
  say: "Thank you. I am writing that down.",
  call: ({ calls }) => ({
    tool: "write",
    input: { path: FILE, content: `# Your answer\n\n${excerpt(answerIn(calls[0]), 20, 1000)}\n` },
  }),
};

function questionIn(said: string): string {
  const rest = /\bask me\b[\s,:]*(?:(?:a question )?about\s+)?(.*)/is.exec(said)?.[1]?.trim() ?? "";
  const words =
    rest
      .split("\n")[0]
      ?.replace(/[.?!]+$/, "")
      .replace(/\bI\b/, "do you")
      .replace(/\bmy\b/gi, "your")
      .slice(0, 200) ?? "";
  if (words === "" || /^(something|anything|a question|questions?)\b/i.test(words))
    return "Which colour do you like best?";
  if (/^(what|which|who|where|when|why|how|if|whether)\b/i.test(words)) {
    const direct = words.replace(/^(if|whether)\s+/i, "Is it so that ");
    return `${direct.charAt(0).toUpperCase()}${direct.slice(1)}?`;
  }
  return `What should I know about ${words}?`;
}

function close([asked, kept]: readonly (MadeCall | null)[]): string {
  if (!succeeded(asked))
    return "You did not answer, which is fine: I continue without it. Ask me again at any time.";
  const answer = fenced(excerpt(answerIn(asked), 10, 500));
  const file = succeeded(kept) ? ` and wrote it to \`${FILE}\`; see the Changes panel` : "";
  return `I have your answer${file}:\n\n${answer}`;
}

function answerIn(call: MadeCall | null | undefined): string {
  return call?.result?.text.trim() ?? "";
}
