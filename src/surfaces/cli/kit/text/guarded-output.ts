/**
 * The only way from a command to standard output and error. All written text counts as foreign and loses its
 * control characters, except escape sequences made by `ownSequence`: those carry a mark that is random for
 * each process, so foreign text cannot contain it.
 */
import { randomBytes } from "node:crypto";
import { terminalText } from "#base/text/visible-text.ts";
import type { CliHost, Output } from "../host.ts";

/** Stands for ESC in our own sequences until they are written. */
const MARK = `\ufdd0${randomBytes(16).toString("hex")}\ufdd1`;
const ESCAPE = "\u001b";
/** Colours, cursor moves, erasing and modes: the only sequences that this program uses. */
const SEQUENCE = /^\[\??[\d;]*[A-Za-z]/;

/** Marks a sequence without its ESC, such as `[2m`; `\r` is one too. */
export function ownSequence(sequence: string): string {
  return MARK + sequence;
}

/** Matches a colour of our own; the group is its number. */
export const OWN_COLOUR = new RegExp(`${MARK}\\[(\\d*)m`, "g");

function render(text: string): string {
  const [first = "", ...rest] = text.split(MARK);
  return terminalText(first) + rest.map(renderSequence).join("");
}

function renderSequence(text: string): string {
  if (text.startsWith("\r")) return `\r${terminalText(text.slice(1))}`;
  const sequence = SEQUENCE.exec(text)?.[0];
  // A mark that was cut in two by shortening its text controls nothing.
  if (sequence === undefined) return terminalText(text);
  return ESCAPE + sequence + terminalText(text.slice(sequence.length));
}

export function guardOutput(output: Output): Output {
  return {
    write: (text) => output.write(render(text)),
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    on: (event, listener) => output.on?.(event, listener),
    off: (event, listener) => output.off?.(event, listener),
  };
}

/** Wraps a host so that foreign text cannot control its terminal. */
export function guardHost(host: CliHost): CliHost {
  return {
    ...host,
    stdout: guardOutput(host.stdout),
    stderr: guardOutput(host.stderr),
    exit: (code) => host.exit(code),
    onInterrupt: (listener) => host.onInterrupt(listener),
  };
}
