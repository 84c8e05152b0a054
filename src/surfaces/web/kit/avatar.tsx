import { clsx } from "clsx";

/** The face of an agent: its emoji, or the first letter of its name. */
export function Avatar({
  name,
  avatar,
  className,
}: {
  name: string;
  avatar: string | null;
  className?: string;
}) {
  return (
    <span
      aria-hidden
      className={clsx(
        "grid shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent select-none",
        className,
      )}
    >
      {faceOf(name, avatar)}
    </span>
  );
}

const MAX_SIGNS = 2;

/** Pictures from elsewhere are not fetched: whoever serves them would learn who looks, and when. */
export function faceOf(name: string, avatar: string | null): string {
  const signs = [...new Intl.Segmenter().segment((avatar ?? "").trim())];
  if (signs.length > 0 && signs.length <= MAX_SIGNS) return (avatar ?? "").trim();
  return ([...name.trim()][0] ?? "?").toUpperCase();
}
