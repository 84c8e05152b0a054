/** Describes a server's validation errors for people. Programs get them unchanged. */
import type { RefusalDetail } from "#base/refusal.ts";

const WORDS: readonly [pattern: RegExp, say: (match: RegExpExecArray) => string][] = [
  [/^Too small: expected string to have >=1 characters?$/, () => "must not be empty"],
  [
    /^Too small: expected string to have >=(\d+) characters?$/,
    ([, n]) => `is too short: at least ${n} characters`,
  ],
  [
    /^Too big: expected string to have <=(\d+) characters?$/,
    ([, n]) => `is too long: at most ${n} characters`,
  ],
  [
    /^Too big: expected array to have <=(\d+) items?$/,
    ([, n]) => `has too many items: at most ${n}`,
  ],
  [
    /^Too small: expected array to have >=(\d+) items?$/,
    ([, n]) => `has too few items: at least ${n}`,
  ],
  [/^Too small: expected \w+ to be >=?(\S+)$/, ([, n]) => `must be at least ${n}`],
  [/^Too big: expected \w+ to be <=?(\S+)$/, ([, n]) => `must be at most ${n}`],
  [/^Invalid option: expected one of (.+)$/, ([, all]) => `must be one of ${listed(all)}`],
  [/^Invalid ISO (?:datetime|date)$/, () => "is not a time, such as 2030-01-31T12:00:00Z"],
  [/^Invalid input: expected \w+, received undefined$/, () => "is missing"],
  [/^((?:is|must|has) .+)$/, ([, statement]) => statement ?? ""],
];

function listed(all = ""): string {
  return all
    .split("|")
    .map((word) => word.replaceAll('"', ""))
    .join(", ");
}

export function detailWords({ path: at, message }: RefusalDetail): string {
  if (at === "") return message;
  const path = at.replaceAll(/\.(\d+)/g, (_, index) => ` ${Number(index) + 1}`);
  for (const [pattern, say] of WORDS) {
    const match = pattern.exec(message);
    if (match) return `${path} ${say(match)}`;
  }
  return `${path}: ${message}`;
}

/** A refusal whose message only repeats its first detail is shown by its details. */
export function refusalLines(message: string, details: readonly RefusalDetail[]): string[] {
  const [first, ...others] = details;
  const isRepeated =
    first !== undefined &&
    message.startsWith(first.path ? `${first.path}: ${first.message}` : first.message);
  if (!isRepeated) return [message, ...details.map((detail) => `  ${detailWords(detail)}`)];
  const rest = message.slice((first.path ? `${first.path}: ` : "").length + first.message.length);
  const firstLine = `${detailWords(first)}${rest}`;
  return [
    /[.!?]$/.test(firstLine) ? firstLine : `${firstLine}.`,
    ...others.map((one) => `  ${detailWords(one)}`),
  ];
}
