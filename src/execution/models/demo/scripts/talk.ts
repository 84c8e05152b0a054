/** Answers of the demo in words alone: a welcome, small questions about Muster, and everything else. */
import { end, type Scene, type Script } from "../script.ts";

const DELEGATES =
  "- **“Let two agents research otters and make a page about them”**: I hand the work to two child sessions, the second when the first is done, and tell you what came of it.";

const OWN_ABILITIES = [
  "- **“Make me a tiny web page about otters and show me”**: I plan, write a file, check it, and ask for your approval once.",
  "- **“What files are there?”** or **“What did you do?”**: I look, and tell you.",
  "- **“Write a python script”** or **“Write a file notes.md”**: I write it and try it.",
  "- **“Run `ls -la`”**: I run it in the session's sandbox.",
  "- **“Ask me which colour I like”**: I ask, wait, and use your answer.",
  "- **“What is a session?”**, **“a runner?”**, **“a sandbox?”**: small answers about Muster.",
];

/** Lists delegation first for agents that can delegate. */
function abilitiesOf({ tools }: Scene): string {
  return [...(tools.has("spawn_session") ? [DELEGATES] : []), ...OWN_ABILITIES].join("\n");
}

interface CannedAnswer {
  about: RegExp;
  text: string;
}

/** Answers that must stay true of the program; the first that fits is given. */
const ANSWERS: readonly CannedAnswer[] = [
  {
    about:
      /\b(my )?(data|transcripts?|history) (stored|kept|saved|live|go)|where (is|are|does) (my |the )?(data|transcript|history|files stored)/i,
    text: "Your data stays on your machine: everything that happened is in one database inside the data folder, `~/.muster` unless `MUSTER_HOME` names another. It is SQLite; `MUSTER_DATABASE_URL` can point to PostgreSQL instead. With me nothing leaves the machine; a real model is sent the conversation.",
  },
  {
    about: /\b(cost|costs|price|pricing|expensive|spend)\b/i,
    text: "I cost nothing. For real models Muster counts tokens (read, cached, written) for each request and shows the cost at the model's list price. A model whose price is not known is shown as unpriced, never as $0.",
  },
  {
    about: /\bapproval|approve|permission|\bgates?\b/i,
    text: "Each tool call is judged by a policy: allowed, denied, or asked about. When it is asked about, the turn waits for you, for as long as a day, and survives a restart; you can allow it once, for this session, or always. What is then run is exactly what you were shown. If you say no, the model is told and goes on without it.",
  },
  {
    about: /\bsandbox/i,
    text: "A sandbox is where a session's commands run: they see the session's workspace and the system's programs, but not your other files, not the server's keys, and no network unless it was allowed. Without a sandbox nothing is run, unless you asked for that in so many words.",
  },
  {
    about: /\brunners?\b/i,
    text: "A runner is the process that does a session's work: it takes turns from the server, speaks to the model, and runs tools. `npm start` brings one along; more can join from other machines. If one dies, another goes on from what was written down.",
  },
  {
    about: /\bruntimes?\b/i,
    text: "A runtime is the agent a runner drives for a turn. The native one is Muster's own loop of model and tools.",
  },
  {
    about: /\bsessions?\b/i,
    text: "A session is an agent with a history, an owner and settings. Each thing you ask is a prompt; working on it is a turn. Prompts wait their turn, and you can steer or stop at any time. Close the page: nothing is lost.",
  },
  {
    about:
      /\b(add|use|choose|change|switch|set ?up|connect)\b.*\b(model|key|ollama|openai|anthropic|claude|gpt)\b/i,
    text: "To add a model, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` (or `OPENROUTER_API_KEY`) and restart, or add it in settings. An Ollama on this machine is found by itself. Any other endpoint that speaks like OpenAI can be named in `MUSTER_PROVIDERS`. Then choose the model for the session.",
  },
  {
    about: /\bmuster\b/i,
    text: "Muster is a platform for AI agents that you host yourself. You say what you want; agents work in sandboxes, ask you when they must, and everything they do is written down, so that a crash, a restart or a closed laptop loses nothing.",
  },
];

const IS_QUESTION =
  /\?|^\s*(what|where|how|why|who|which|is|are|does|do|can|tell|explain|describe)\b/i;

export const aboutMuster: Script = {
  name: "about-muster",
  fits: ({ said }) => IS_QUESTION.test(said) && ANSWERS.some(({ about }) => about.test(said)),
  next: ({ said }) => end(ANSWERS.find(({ about }) => about.test(said))?.text ?? ""),
};

const IS_GREETING = /^\s*(?:(?:please\s+)?say\s+)?(?:hello|hi|hey|good (?:morning|day|evening))\b/i;
const IS_WELCOME =
  /what (can|do) you (do|offer)|what else can|who are you|what are you|\bhelp\b|^\s*$/i;

export const welcome: Script = {
  name: "welcome",
  fits: ({ said }) => IS_GREETING.test(said) || IS_WELCOME.test(said),
  next: (scene) =>
    end(
      `${IS_GREETING.test(scene.said) ? "Hello! " : ""}In Muster, agents work for you in sandboxes, ask when they need your word, and write everything down. I can show you that for real, with real files and real commands. Try one of these:\n\n${abilitiesOf(scene)}`,
    ),
};

export const fallback: Script = {
  name: "fallback",
  fits: () => true,
  next: (scene) =>
    end(
      `That is beyond me: I am only a demo and understand a few requests by their words. A real model would take it from here. What I can play:\n\n${abilitiesOf(scene)}`,
    ),
};
