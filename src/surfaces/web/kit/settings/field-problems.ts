import { ApiError, messageOf } from "#surfaces/web/kit/api/api-client.ts";
/** What is wrong with which field, by the path that the server has for it. Pure. */

/** Such as `files.0.filename`. */
export type Problems = Readonly<Record<string, string>>;

export const NO_PROBLEMS: Problems = {};

/** The server's words about fields that are shown; the rest is for the form as a whole. */
export function refusedFields(
  error: unknown,
  isShown: (path: string) => boolean,
): { fields: Problems; rest: string | undefined } {
  if (!(error instanceof ApiError)) return { fields: NO_PROBLEMS, rest: messageOf(error) };
  const atFields = error.details.filter(({ path }) => isShown(path));
  const fields = Object.fromEntries(atFields.map(({ path, message }) => [path, sentence(message)]));
  const isAllSaid = atFields.length > 0 && atFields.length === error.details.length;
  return { fields, rest: isAllSaid ? undefined : messageOf(error) };
}

/** `must be one line` is said of a field whose name is known: here it stands alone. */
function sentence(message: string): string {
  const begun = message.replace(/^./, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Of what was marked, that which is still wrong. */
export function stillWrong(marked: Problems, wrong: Problems): Problems {
  return Object.fromEntries(Object.entries(wrong).filter(([path]) => path in marked));
}
