/**
 * Proves that the mounted folder is the checked one. Bubblewrap looks a path up when it mounts it,
 * which is later than any check of ours, and anybody who can write to a folder above can put a link
 * there in between. So the first program inside compares, in a place that can no longer change, and
 * becomes the command only if all is as it was.
 */

import { WORKSPACE_PATH } from "#protocol/names/workspace-paths.ts";
import type { SandboxSpec } from "../sandbox.ts";

const SCRIPT = `while [ "$1" != -- ]; do
  if [ "$(PATH=/usr/bin:/bin stat -c %d:%i "$1")" != "$2" ]; then
    echo "The folder was replaced by another one while the command was started." >&2
    exit 126
  fi
  shift 2
done
shift
exec "$@"`;

/** Words that go before a command's own; none when there is nothing to prove. */
export function buildProof({ workspaceIdentity, readOnly = [] }: SandboxSpec): string[] {
  const mounts = [{ to: WORKSPACE_PATH, identity: workspaceIdentity }, ...readOnly];
  const pairs = mounts.flatMap(({ to, identity }) => (identity ? [to, identity] : []));
  return pairs.length === 0 ? [] : ["/bin/sh", "-c", SCRIPT, "sh", ...pairs, "--"];
}
