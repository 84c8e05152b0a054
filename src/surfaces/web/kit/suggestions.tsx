/** Suggested prompts. The demo model can play them all; a real model does more with them. */
const SUGGESTIONS = [
  "What can you do?",
  "Make me a tiny web page about otters and show me",
  "Ask me a question about colours",
  "Write a python script that says hello, and run it",
];

/** Only a session that can delegate is able to do it. */
const FOR_AN_ORCHESTRATOR = "Let two agents research otters and make a page about them";

interface SuggestionsProps {
  isOrchestrator?: boolean;
  onChoose: (text: string) => void;
}

/** Prompt suggestions for a first session: one click fills the prompt. */
export function Suggestions({ isOrchestrator = false, onChoose }: SuggestionsProps) {
  const offered = isOrchestrator ? [FOR_AN_ORCHESTRATOR, ...SUGGESTIONS] : SUGGESTIONS;
  return (
    <fieldset className="flex flex-wrap items-center gap-1.5">
      <legend className="sr-only">Suggestions</legend>
      {offered.map((text) => (
        <button
          key={text}
          type="button"
          onClick={() => onChoose(text)}
          className="rounded-full border border-line bg-raised px-2.5 py-1 text-left text-xs text-ink-soft hover:border-line-strong hover:bg-hover hover:text-ink"
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
