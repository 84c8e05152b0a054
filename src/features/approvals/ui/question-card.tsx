import { clsx } from "clsx";
import { MessageCircleQuestionMark } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import type { AskedQuestion } from "#protocol/tools.ts";
import { type Approval, questionsOf } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { ReadScope, useReadGate, useSeenToEnd } from "#surfaces/web/kit/read-gate.tsx";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { Mark } from "#surfaces/web/kit/text/verbatim.tsx";
import { answersOf, type Choice, mayWrite, NO_CHOICE, pick, write } from "./answers.ts";
import { CardFrame, UNARMED } from "./card-frame.tsx";
import { Unread } from "./unread.tsx";
import { useAnswer, useArmed } from "./use-approvals.ts";

/** Shows one to four questions, answered together; the agent waits for the answers. */
export function QuestionCard({ approval }: { approval: Approval }) {
  const questions = questionsOf(approval);
  const [choices, setChoices] = useState<readonly Choice[]>(() => questions.map(() => NO_CHOICE));
  const isArmed = useArmed();
  const { answer, isBusy, problem } = useAnswer(approval);
  const answers = answersOf(choices);
  const gate = useReadGate(approval.id);
  const unreadId = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (answers !== null && isArmed && gate.isRead) answer({ answers });
  };
  return (
    <CardFrame
      approval={approval}
      icon={<MessageCircleQuestionMark size={17} aria-hidden />}
      title={questions.length === 1 ? "Question for you" : `${questions.length} questions for you`}
      problem={problem}
    >
      <form className="space-y-4" onSubmit={submit}>
        <ReadScope gate={gate}>
          {questions.map((question, at) => (
            <OneQuestion
              // biome-ignore lint/suspicious/noArrayIndexKey: questions have no id, only a position
              key={at}
              place={at}
              question={question}
              choice={choices[at] ?? NO_CHOICE}
              onChange={(choice) =>
                setChoices((all) => all.map((one, place) => (place === at ? choice : one)))
              }
            />
          ))}
        </ReadScope>
        <div className="flex flex-wrap-reverse justify-end gap-2">
          <Button
            look="ghost"
            className={clsx("max-sm:w-full", !isArmed && UNARMED)}
            disabled={isBusy || !isArmed}
            onClick={() => answer({ decision: "deny" })}
          >
            Skip
          </Button>
          <Button
            type="submit"
            look="primary"
            className="max-sm:w-full"
            disabled={answers === null || isBusy || !isArmed || !gate.isRead}
            aria-describedby={unreadId}
          >
            {isBusy ? "Sending…" : "Send"}
          </Button>
        </div>
        <Unread id={unreadId} gate={gate} what="Send" />
      </form>
    </CardFrame>
  );
}

interface OneQuestionProps {
  place: number;
  question: AskedQuestion;
  choice: Choice;
  onChange: (choice: Choice) => void;
}

function OneQuestion({ place, question, choice, onChange }: OneQuestionProps) {
  const name = useId();
  const marks = useSeenToEnd(`question ${place}`);
  const options = question.options ?? [];
  return (
    <fieldset
      ref={(element) => {
        marks.region.current = element;
      }}
      tabIndex={-1}
      className="space-y-1.5 outline-none"
    >
      <legend dir="auto" className="mb-1.5 break-words whitespace-pre-wrap">
        <Mark at={marks.start} />
        <Revealed text={question.question} />
      </legend>
      {options.map((option) => (
        <label
          key={option.label}
          className="flex cursor-pointer items-start gap-2.5 rounded-lg border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
        >
          <input
            type={question.multiple === true ? "checkbox" : "radio"}
            name={name}
            checked={choice.picked.includes(option.label)}
            onChange={() => onChange(pick(question, choice, option.label))}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span className="min-w-0">
            <span dir="auto" className="block font-medium break-words whitespace-pre-wrap">
              <Revealed text={option.label} />
            </span>
            {option.description && (
              <span dir="auto" className="block text-xs break-words text-ink-soft">
                <Revealed text={option.description} />
              </span>
            )}
          </span>
        </label>
      ))}
      <Mark at={marks.end} />
      {mayWrite(question) && (
        <textarea
          aria-label={options.length > 0 ? "Other answer" : "Your answer"}
          placeholder={options.length > 0 ? "Or type another answer" : "Your answer"}
          rows={options.length > 0 ? 1 : 2}
          maxLength={4_000}
          value={choice.words}
          onChange={(event) => onChange(write(question, choice, event.target.value))}
          className="block w-full resize-y rounded-lg border border-line-strong bg-page px-3 py-2 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
        />
      )}
    </fieldset>
  );
}
