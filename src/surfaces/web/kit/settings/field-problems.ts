import { ApiError, messageOf } from "#surfaces/web/kit/api/api-client.ts";
/** Field problems by the server's path. Pure. */

/** Keyed by path, such as `files.0.filename`. */
export type Problems = Readonly<Record<string, string>>;

export const NO_PROBLEMS: Problems = {};

/** Maps the server's refusal to the visible fields; the rest belongs to the form as a whole. */
export function refusedFields(
  error: unknown,
  isShown: (path: string) => boolean,
): { fields: Problems; rest: string | undefined } {
  if (!(error instanceof ApiError)) return { fields: NO_PROBLEMS, rest: messageOf(error) };
  const shownDetails = error.details.filter(({ path }) => isShown(path));
  const fields = Object.fromEntries(
    shownDetails.map(({ path, message }) => [path, sentence(message)]),
  );
  const areAllShown = shownDetails.length > 0 && shownDetails.length === error.details.length;
  return { fields, rest: areAllShown ? undefined : messageOf(error) };
}

/** Makes a sentence of the server's text, such as `must be one line`, which follows a field's name. */
function sentence(message: string): string {
  const begun = message.replace(/^./, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Returns marked problems that still exist. */
export function stillWrong(marked: Problems, wrong: Problems): Problems {
  return Object.fromEntries(Object.entries(wrong).filter(([path]) => path in marked));
}
