import { X } from "lucide-react";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
} from "react";
import { messageOf } from "./api/api-client.ts";
import { Button } from "./button.tsx";
import { revealLine } from "./text/reveal.ts";

interface Toast {
  id: number;
  title: string;
  text: string | null;
  isError: boolean;
  action: ToastAction | null;
}

/** Action offered while the toast is shown. */
export interface ToastAction {
  name: string;
  run: () => void;
}

interface Toasts {
  show: (title: string, text?: string, action?: ToastAction) => void;
  /** Shows an error in the server's own words. */
  fail: (title: string, error: unknown) => void;
}

const ToastContext = createContext<Toasts | undefined>(undefined);
const VISIBLE_MS = 6_000;
const MAX_TOASTS = 3;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const nextId = useRef(1);
  const dismiss = useCallback((id: number) => {
    setToasts((shown) => shown.filter((toast) => toast.id !== id));
  }, []);
  const add = useCallback(
    (toast: Omit<Toast, "id">) => {
      const id = nextId.current++;
      setToasts((shown) => [...shown.slice(1 - MAX_TOASTS), { ...toast, id }]);
      window.setTimeout(() => dismiss(id), VISIBLE_MS);
    },
    [dismiss],
  );
  const offer = useMemo<Toasts>(
    () => ({
      show: (title, text, action) =>
        add({ title, text: text ?? null, isError: false, action: action ?? null }),
      fail: (title, error) => add({ title, text: messageOf(error), isError: true, action: null }),
    }),
    [add],
  );
  return (
    <ToastContext value={offer}>
      {children}
      <section
        aria-label="Notifications"
        // Explicit, because an open dialog would hide it from screen readers.
        aria-live="polite"
        className="pointer-events-none fixed inset-x-3 top-17 z-60 flex flex-col items-end gap-2"
      >
        {toasts.map((toast) => (
          <div
            key={toast.id}
            role={toast.isError ? "alert" : "status"}
            className="animate-rise pointer-events-auto flex w-full max-w-sm items-start gap-3 rounded-xl border border-line bg-raised py-2.5 pr-1.5 pl-3.5 shadow-float"
          >
            <div className="min-w-0 flex-1 py-0.5">
              <p className={toast.isError ? "font-medium text-bad" : "font-medium"}>
                {revealLine(toast.title)}
              </p>
              {toast.text && (
                <p className="mt-0.5 break-words text-ink-soft">{revealLine(toast.text)}</p>
              )}
            </div>
            {toast.action && (
              <Button
                size="small"
                onClick={() => {
                  dismiss(toast.id);
                  toast.action?.run();
                }}
              >
                {toast.action.name}
              </Button>
            )}
            <button
              type="button"
              aria-label="Dismiss"
              onClick={() => dismiss(toast.id)}
              className="grid size-7 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
            >
              <X size={15} aria-hidden />
            </button>
          </div>
        ))}
      </section>
    </ToastContext>
  );
}

export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (toasts === undefined) throw new Error("useToasts needs a ToastProvider above it");
  return toasts;
}
