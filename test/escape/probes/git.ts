/** Files that an agent plants for the runner's later git commands. */
import { join } from "node:path";
import type { Probe } from "../probe.ts";

const EVIL = `printf '#!/bin/sh\\necho x > "$EVIDENCE"; echo x > /workspace/git-ran; cat\\n' | sed "s#\\$EVIDENCE#$EVIDENCE#" > /workspace/evil; chmod +x /workspace/evil`;

function planted(name: string, plant: string): Probe {
  return {
    name: `git: ${name}`,
    script: ({ folder }) =>
      `EVIDENCE='${folder}/git-ran'; ${EVIL}; rm -rf .git; git init -q . 2>/dev/null; ${plant}; echo $$ > changed; true`,
    evidence: ({ workspace }) => join(workspace.folder, "git-ran"),
    async afterwards({ workspace, folder }) {
      await workspace.mark("git");
      const { existsSync, writeFileSync } = await import("node:fs");
      writeFileSync(join(workspace.folder, "changed"), `again ${name}\n`);
      const { turn } = await workspace.changes("git");
      await workspace.snapshot();
      const seen = turn.files.some(({ path }) => path === "changed");
      return existsSync(join(folder, "git-ran")) ? "ESCAPED" : seen ? "seen" : "";
    },
    expects: /seen/,
  };
}

export const gitProbes: Probe[] = [
  planted("a file watcher", "git config core.fsmonitor /workspace/evil"),
  planted(
    "hooks",
    "for h in post-index-change pre-commit reference-transaction; do mkdir -p .git/hooks; cp evil .git/hooks/$h; done; git config core.hooksPath /workspace",
  ),
  planted(
    "filters",
    "git config filter.x.clean /workspace/evil; git config --global filter.x.clean /workspace/evil; echo '* filter=x diff=x' > .gitattributes",
  ),
  planted(
    "a way to show differences",
    "git config --global diff.external /workspace/evil; git config diff.x.textconv /workspace/evil; echo '* diff=x' > .gitattributes",
  ),
  planted(
    "names for commands",
    "git config --global alias.ls-files '!/workspace/evil'; git config --global alias.write-tree '!/workspace/evil'",
  ),
  planted("a link as its folder", "rm -rf .git; ln -s /etc .git"),
  planted(
    "a file as its folder",
    "rm -rf .git; echo 'gitdir: /workspace/elsewhere' > .git; mkdir -p elsewhere",
  ),
  planted(
    "an encoding that does not exist",
    "echo '* working-tree-encoding=nonsense text=auto' > .gitattributes",
  ),
  planted(
    "a repository inside with all of it",
    "rm -rf in; git init -q in; git -C in config core.fsmonitor /workspace/evil; echo n > in/n",
  ),
  planted(
    "objects elsewhere",
    "mkdir -p .git/objects/info; echo /etc > .git/objects/info/alternates",
  ),
  planted(
    "another name first on the path",
    "mkdir -p bin; cp evil bin/git; cp evil git; printf 'PATH=/workspace/bin:$PATH\\n' > ~/.profile; cp ~/.profile ~/.bashrc",
  ),
];
