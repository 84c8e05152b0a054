import { Bot, MessagesSquare, User, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { matching, type Recipient } from "./recipients.ts";

const ICONS = { person: User, agent: Bot, session: MessagesSquare } as const;

interface RecipientFieldProps {
  /** Recipient chosen from the list; undefined while somebody types. */
  chosen: Recipient | undefined;
  typed: string;
  everybody: readonly Recipient[];
  onChoose: (recipient: Recipient | undefined) => void;
  onType: (text: string) => void;
}

const FIELD =
  "flex h-9 w-full items-center gap-2 rounded-lg border border-line-strong bg-page px-3 text-sm focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/25 max-sm:text-base";

/** Recipient search box: choose by arrow keys and Enter, or by a click. */
export function RecipientField(props: RecipientFieldProps) {
  const { chosen, onChoose } = props;
  const id = useId();
  // Removing the recipient focuses the search box again.
  const wasChosen = useRef(false);
  useEffect(() => {
    wasChosen.current = chosen !== undefined;
  });
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-ink-soft">
        To
      </label>
      {chosen === undefined ? (
        <Finder id={id} {...props} isNext={wasChosen.current} />
      ) : (
        <div className={FIELD}>
          <Face recipient={chosen} />
          <input
            id={id}
            readOnly
            value={revealLine(chosen.name)}
            className="min-w-0 flex-1 truncate bg-transparent outline-none"
            onKeyDown={(event) => {
              if (event.key === "Backspace" || event.key === "Delete") onChoose(undefined);
            }}
          />
          <button
            type="button"
            aria-label="Remove recipient"
            onClick={() => onChoose(undefined)}
            className="-mr-1.5 grid size-6 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
          >
            <X size={14} aria-hidden />
          </button>
        </div>
      )}
    </div>
  );
}

const STEPS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };

interface FinderProps extends RecipientFieldProps {
  id: string;
  /** True if the field takes the focus. */
  isNext: boolean;
}

function Finder({ id, typed, everybody, isNext, onChoose, onType }: FinderProps) {
  const listId = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [at, setAt] = useState(0);
  const found = matching(everybody, typed);
  const isShown = isOpen && found.length > 0;
  const current = isShown ? found[Math.min(at, found.length - 1)] : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setIsOpen(true);
      setAt(isShown ? (at + step + found.length) % found.length : 0);
    } else if (event.key === "Enter" && current) {
      event.preventDefault();
      onChoose(current);
    }
  };
  useEscape(isShown, () => setIsOpen(false));
  return (
    <div className="relative">
      <input
        id={id}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={current && `${listId}-${current.to}`}
        data-autofocus
        {...(isNext && { ref: focusOnMount })}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={200}
        placeholder="A person, an @agent or one of your sessions"
        value={typed}
        onChange={(event) => {
          onType(event.target.value);
          setAt(0);
          setIsOpen(true);
        }}
        onClick={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onKeyDown={onKeyDown}
        className={`${FIELD} outline-none`}
      />
      {isShown && (
        <div
          id={listId}
          role="listbox"
          aria-label="Matching recipients"
          className="absolute inset-x-0 top-full z-10 mt-1 max-h-64 overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          {found.map((recipient) => (
            <div
              key={recipient.to}
              id={`${listId}-${recipient.to}`}
              role="option"
              tabIndex={-1}
              aria-selected={recipient === current}
              // Handles the press before the field loses the focus, which closes the list.
              onPointerDown={(event) => {
                event.preventDefault();
                onChoose(recipient);
              }}
              className="flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 hover:bg-hover aria-selected:bg-hover max-md:py-2.5"
            >
              <Face recipient={recipient} />
              <span className="min-w-0 truncate font-medium">{revealLine(recipient.name)}</span>
              <span className="ml-auto min-w-0 shrink truncate text-xs text-ink-faint">
                {revealLine(recipient.note)}
              </span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

/** Closes only the list on Escape: the listener runs before the dialog's, which ignores handled events. */
function useEscape(isShown: boolean, close: () => void): void {
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  useEffect(() => {
    if (!isShown) return;
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", listen, { capture: true });
    return () => window.removeEventListener("keydown", listen, { capture: true });
  }, [isShown]);
}

function Face({ recipient }: { recipient: Recipient }) {
  const Icon = ICONS[recipient.kind];
  return <Icon size={15} aria-hidden className="shrink-0 text-ink-faint" />;
}
