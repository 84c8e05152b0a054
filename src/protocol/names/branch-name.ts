/** Names of git branches, by git's own rules and a little narrower: no option, no revision syntax. */
const MAX_CHARS = 250;
const ODD_CHARACTER = /[^\p{L}\p{N}._/+@#-]/u;
/** Parts that git refuses: empty, hidden, ending in `.lock`; and names that end in a dot. */
const ODD_PART = /^\/|\/$|\/\/|(?:^|\/)\.|\.lock(?:\/|$)|\.$/;

export function isBranchName(text: string): boolean {
  if (text === "" || text === "@" || text.length > MAX_CHARS || text.startsWith("-")) return false;
  if (ODD_CHARACTER.test(text) || ODD_PART.test(text)) return false;
  return !text.includes("..") && !text.includes("@{");
}
