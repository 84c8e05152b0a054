/**
 * The first program of every command: a shell that sets its limits, joins the command's control
 * groups and then becomes the command. A limit that is already tighter stays as it is; a group that
 * cannot be joined ends the command, because then the limits would not hold.
 */
const SCRIPT = `
ulimit -c 0
ulimit -n "$1" 2>/dev/null
ulimit -f "$2" 2>/dev/null
shift 2
while [ "$1" != -- ]; do echo 0 >"$1" || exit 126; shift; done
shift
exec "$@"`;

const SHELL = "/bin/sh";
const OPEN_FILES = 65_536;
/** Unit of `ulimit -f` in a POSIX shell. */
const BLOCK_BYTES = 512;

export interface Launch {
  fileBytes: number;
  /** Files of control groups that the process writes itself into. */
  join: readonly string[];
}

export function buildLaunch({ fileBytes, join }: Launch, argv: readonly string[]): string[] {
  const blocks = Math.max(1, Math.ceil(fileBytes / BLOCK_BYTES));
  return [SHELL, "-c", SCRIPT, "sh", String(OPEN_FILES), String(blocks), ...join, "--", ...argv];
}
