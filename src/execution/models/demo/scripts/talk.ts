/** Answers of the demo in words alone: a welcome, small questions about Muster, and everything else. */
import { end, type Scene, type Script } from "../script.ts";

const DELEGATES =
  "- **“Let two agents research otters and make a page about them”**: I delegate the work to two child sessions, one after the other, and report the result.";

const OWN_ABILITIES = [
  "- **“Make me a tiny web page about otters and show me”**: I plan, write a file, check it, and ask for your approval once.",
  "- **“What files are there?”** or **“What did you do?”**: I look and tell you.",
  "- **“Write a python script”** or **“Write a file notes.md”**: I write it and try it.",
  "- **“Run `ls -la`”**: I run it in the session's sandbox.",
  "- **“Ask me which colour I like”**: I ask, wait, and use your answer.",
  "- **“What is a session?”**, **“a runner?”**, **“a sandbox?”**: short answers about Muster.",
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
    text: "Your data stays on your machine: everything is in one database in the data folder, `~/.muster` unless `MUSTER_HOME` names another. It is SQLite; `MUSTER_DATABASE_URL` can point to PostgreSQL instead. With me nothing leaves the machine; a real model gets the conversation.",
  },
  {
    about: /\b(cost|costs|price|pricing|expensive|spend)\b/i,
    text: "I cost nothing. For real models Muster counts tokens (read, cached, written) for each request and shows the cost at the model's list price. A model whose price is not known is shown as unpriced, never as $0.",
  },
  {
    about: /\bapproval|approve|permission|\bgates?\b/i,
    text: "A policy judges each tool call: allow, deny, or ask. When it asks, the turn waits for you for up to a day, and survives a restart; you can allow the call once, for this session, or always. Exactly what you were shown is then run. If you say no, the model is notified and continues without it.",
  },
  {
    about: /\bsandbox/i,
    text: "A sandbox is where a session's commands run: they see the session's workspace and the system's programs, but not your other files, not the server's keys, and no network unless it was allowed. Without a sandbox nothing is run, unless you allowed that explicitly.",
  },
  {
    about: /\brunners?\b/i,
    text: "A runner is the process that does a session's work: it takes turns from the server, calls the model, and runs tools. `npm start` includes one; more can join from other machines. If one dies, another continues from the journal.",
  },
  {
    about: /\bruntimes?\b/i,
    text: "A runtime is the agent that a runner drives for a turn. The native one is Muster's own loop of model and tools.",
  },
  {
    about: /\bsessions?\b/i,
    text: "A session is an agent with a history, an owner and settings. Each request is a prompt; working on it is a turn. Prompts are queued, and you can steer or stop at any time. You can close the page: nothing is lost.",
  },
  {
    about:
      /\b(add|use|choose|change|switch|set ?up|connect)\b.*\b(model|key|ollama|openai|anthropic|claude|gpt)\b/i,
    text: "To add a model, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` (or `OPENROUTER_API_KEY`) and restart, or add it in settings. Ollama on this machine is found by itself. Any other OpenAI-compatible endpoint can be named in `MUSTER_PROVIDERS`. Then choose the model for the session.",
  },
  {
    about: /\bmuster\b/i,
    text: "Muster is a self-hosted platform for AI agents. You say what you want; agents work in sandboxes, ask you when they must, and everything they do is recorded, so that a crash, a restart or a closed laptop loses nothing.",
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
      `${IS_GREETING.test(scene.said) ? "Hello! " : ""}In Muster, agents work for you in sandboxes, ask for your approval when they need it, and record everything. I can show you that with real files and real commands. Try one of these:\n\n${abilitiesOf(scene)}`,
    ),
};

export const fallback: Script = {
  name: "fallback",
  fits: () => true,
  next: (scene) =>
    end(
      `I cannot do that: I am only a demo and understand a few requests by their words. A real model would take it from here. I can show you:\n\n${abilitiesOf(scene)}`,
    ),
};
