/**
 * The script around a command of the bash tool, which keeps the working directory from one call to
 * the next. The command's own errors go where its output goes, so that they stay in order, and the
 * sandbox's third stream becomes a private channel on which the shell reports its last directory.
 * The agent controls that channel: its content is only ever used as the place to `cd` to inside the
 * same sandbox.
 */
const PRIVATE_FD = 231;
/** Linux allows 128 KiB for one argument of a program. */
const MAX_ARGUMENT_BYTES = 100_000;
const PATH_MAX = 4096;

export interface BashScript {
  argv: string[];
  /** Standard input; carries a command that is longer than an argument may be. */
  stdin: string;
}

/**
 * Composes the script. `cwd` is bytes, because names of folders are; null is the top of the
 * workspace. Without a nonce nothing is reported.
 */
export function composeScript(
  command: string,
  cwd: Buffer | null,
  nonce: string | null,
): BashScript {
  const isLong = Buffer.byteLength(command) > MAX_ARGUMENT_BYTES;
  const report = `{ builtin printf '\\0%s\\0' ${nonce}; builtin pwd -P; builtin printf '\\0'; } 2>/dev/null >&${PRIVATE_FD}`;
  const script = [
    ...(nonce === null
      ? ["exec 2>&1"]
      : [`exec ${PRIVATE_FD}>&2 2>&1`, `trap ${quote(Buffer.from(report))} EXIT`]),
    ...(cwd ? [enter(cwd)] : []),
    // The command sees no arguments, and its first line is line 1 of its error messages.
    isLong ? 'eval "set --;$(cat)"' : 'eval "set --;$1"',
    // The command may have replaced the trap; then this is the report.
    ...(nonce === null ? [] : ["set -- $?", `${report} || :`, "exit $1"]),
  ].join("; ");
  return isLong
    ? { argv: ["bash", "-c", script, "bash"], stdin: command }
    : { argv: ["bash", "-c", script, "bash", command], stdin: "" };
}

/** Runs a command where it was judged to run, or not at all. */
function enter(cwd: Buffer): string {
  const note = `The working directory ${cwd} is gone, so nothing was run. The next command starts at the top of the workspace.`;
  return `cd -- ${quote(cwd)} 2>/dev/null || { builtin printf '%s\\n' ${quote(Buffer.from(note))}; exit 1; }`;
}

/** Splits the private channel into the shell's last directory, and other output written there. */
export function readReport(bytes: Buffer, nonce: string): { cwd: Buffer | null; rest: Buffer } {
  const mark = Buffer.from(`\0${nonce}\0`);
  const first = bytes.indexOf(mark);
  if (first < 0) return { cwd: null, rest: bytes };
  const start = bytes.lastIndexOf(mark) + mark.length;
  const end = bytes.indexOf(0, start);
  const path = bytes.subarray(start, end < 0 ? start : end);
  const cwd = path.subarray(0, Math.max(0, path.length - 1)); // Without the newline of `pwd`.
  const isUsable = cwd[0] === 0x2f && cwd.length <= PATH_MAX;
  return { cwd: isUsable ? Buffer.from(cwd) : null, rest: bytes.subarray(0, first) };
}

/** Quotes any bytes as one word of bash. */
function quote(bytes: Buffer): string {
  let word = "$'";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c;
    word += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `${word}'`;
}
