/** Reading and writing outside the workspace. */
import { dirname, join } from "node:path";
import type { Probe } from "../probe.ts";

const tell = (command: string) => `${command} && echo ESCAPED`;

const READS: Probe[] = (["sshKey", "ownerKey", "token", "other", "outside"] as const).map(
  (name) => ({
    name: `read ${name}`,
    script: ({ files }) => `cat '${files[name]}'`,
    control: "always",
  }),
);

const WRITES: Probe[] = (
  ["/", "/usr/bin", "/etc", "/dev", "/proc", "/run", "/var", "/home"] as const
).map((folder) => ({
  name: `write to ${folder}`,
  script: () => tell(`touch ${folder}/escape-probe`),
}));

const SYSTEM: Probe[] = [
  { path: "/etc/shadow", test: "-r" },
  { path: "/etc/gshadow", test: "-r" },
  { path: "/etc/ssl/private", test: "-r" },
  { path: "/root", test: "-e" },
  { path: "/sys/kernel", test: "-e" },
  { path: "/var/lib", test: "-e" },
  { path: "/boot", test: "-e" },
].map(({ path, test }) => ({
  name: `see ${path}`,
  script: () => tell(`[ ${test} ${path} ]`),
  control: "root" as const,
}));

export const fileProbes: Probe[] = [
  { name: "see the first process's root", script: () => tell("[ -e /proc/1/root/root ]") },
  ...READS,
  ...WRITES,
  ...SYSTEM,
  {
    name: "list the workspaces",
    script: ({ files }) => tell(`ls '${dirname(dirname(files.other))}'`),
    control: "always",
  },
  {
    name: "read its own record",
    script: ({ workspace }) =>
      `cat /workspace/../workspace.json; ${tell(`cat '${dirname(workspace.folder)}/workspace.json'`)}`,
    control: "always",
  },
  {
    name: "reach its own hidden history",
    script: ({ workspace }) => tell(`ls '${dirname(workspace.folder)}/keep.git'`),
    control: "always",
  },
  {
    name: "write to another's workspace",
    script: ({ files }) => `echo gone > '${files.other}'`,
  },
  { name: "write outside", script: ({ files }) => `echo gone > '${files.outside}'` },
  { name: "delete outside", script: ({ folder }) => `rm -rf '${folder}/outside' '${folder}/home'` },
  {
    name: "make a file outside",
    script: ({ folder }) => `mkdir -p '${folder}'; echo x > '${folder}/made'`,
    evidence: ({ folder }) => join(folder, "made"),
  },
  {
    name: "write to the machine's /tmp",
    script: ({ canary }) =>
      `echo x > /tmp/tmp-${canary.slice(7)}; echo x > /var/tmp/tmp-${canary.slice(7)}`,
    evidence: ({ canary }) => `/tmp/tmp-${canary.slice(7)}`,
  },
  {
    name: "write to the machine's shared memory",
    script: ({ canary }) => `echo x > /dev/shm/shm-${canary.slice(7)}`,
    evidence: ({ canary }) => `/dev/shm/shm-${canary.slice(7)}`,
  },
  {
    name: "read through a link",
    script: ({ files }) =>
      `ln -sf '${files.token}' link; cat link; ln -sfn / root; cat 'root${files.token}'`,
    control: "always",
  },
  {
    name: "write through a link",
    script: ({ files }) => `ln -sf '${files.outside}' out; echo gone > out; echo gone | tee out`,
  },
  {
    name: "hard link",
    script: ({ files }) => `ln '${files.token}' hard; cat hard; rm -f hard`,
    control: "always",
  },
  {
    name: "dots",
    script: ({ files }) =>
      `cat '../../../../../../..${files.token}' '/workspace/../..${files.token}' "$HOME/../../..${files.token}"`,
    control: "always",
  },
  {
    name: "the root of other processes",
    script: ({ files }) =>
      `cat /proc/[0-9]*/root'${files.token}' /proc/self/root/..'${files.token}'`,
    control: "always",
  },
  {
    name: "the folder of other processes",
    script: ({ files }) => `for p in /proc/[0-9]*; do cat "$p/cwd/..${files.token}"; done`,
  },
  {
    name: "open files of other processes",
    // The pipes it writes to are its own.
    script: () =>
      "for f in /proc/[0-9]*/fd/*; do case $(readlink $f) in /dev/null|pipe:*|socket:*|/proc/*|anon*|*/scratch/pipes/[0-9]|'') ;; /*) [ -e $f ] && echo ESCAPED $(readlink $f);; esac; done",
  },
  {
    name: "put a link in the workspace's place",
    script: () => "cd /; rm -rf /workspace; ln -s / /workspace; mv /workspace /w; rmdir /workspace",
    afterwards: async ({ workspace }) => {
      const { lstatSync } = await import("node:fs");
      return lstatSync(workspace.folder).isDirectory() ? "" : "ESCAPED";
    },
  },
  {
    name: "put a link in the home's place",
    script: ({ files }) =>
      `cd /; rm -rf ~ ; ln -sfn '${dirname(files.token)}' ~; cat ~/runner.token`,
  },
  {
    name: "instructions that are a link to a secret",
    script: ({ files }) =>
      `ln -sf '${files.ownerKey}' AGENTS.md; ln -sf '${files.ownerKey}' CLAUDE.md`,
    afterwards: async ({ workspace }) => (await workspace.instructions()) ?? "",
  },
  {
    name: "changes that lead to a secret",
    script: ({ files }) =>
      `ln -sfn '${dirname(files.token)}' data; ln -sf '${files.token}' token; mkdir -p d; ln -sf '${files.sshKey}' d/k`,
    afterwards: async ({ workspace }) => {
      await workspace.mark("links");
      return JSON.stringify(await workspace.changes("links"));
    },
  },
];
