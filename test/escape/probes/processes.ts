/** Other processes of the machine, and outliving the command. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Probe } from "../probe.ts";

export const processProbes: Probe[] = [
  {
    name: "environments of all processes",
    script: () => "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
    control: "always",
  },
  {
    name: "command lines of all processes",
    script: () => "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'",
    control: "always",
  },
  {
    name: "paths of the machine in the first process's options",
    script: ({ folder }) =>
      `tr '\\0' '\\n' < /proc/1/cmdline | sed '/^--$/q' | grep '${folder}/' && echo ESCAPED`,
  },
  {
    name: "more processes than its own",
    script: () => "[ $(ls -d /proc/[0-9]* | wc -l) -gt 8 ] && echo ESCAPED",
    control: "always",
  },
  {
    name: "kill a process",
    script: (stage) => `kill -9 ${stage.victim().pid}`,
    kills: true,
    control: "always",
  },
  { name: "kill everyone", script: () => "kill -9 -1", kills: true },
  {
    name: "kill the runner",
    script: () => `kill -9 ${process.pid}; kill -0 ${process.pid} && echo ESCAPED`,
  },
  {
    name: "trace a process",
    script: (stage) =>
      `perl -e 'my $r = syscall(${process.arch === "arm64" ? 117 : 101}, 16, ${stage.victim().pid}, 0, 0); print "answer $r\\n"; print "ESCAPED\\n" if $r == 0'`,
    expects: /answer -1/,
    control: "always",
  },
  {
    name: "read a process's memory",
    script: (stage) => `true < /proc/${stage.victim().pid}/mem && echo ESCAPED`,
    control: "always",
  },
  {
    name: "priority of a process",
    script: (stage) => `renice -n 19 -p ${stage.victim().pid} && echo ESCAPED`,
    control: "always",
  },
  {
    name: "a daemon that lives on",
    script: () =>
      "(setsid sh -c 'trap \"\" HUP TERM; sleep 0.3; touch /workspace/lives-on' </dev/null >/dev/null 2>&1 &) ; sleep 0.05",
    afterwards: async ({ workspace }) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return existsSync(join(workspace.folder, "lives-on")) ? "ESCAPED" : "";
    },
  },
  {
    name: "a place in memory of the machine",
    script: () =>
      "ipcs -m | grep -q 0x && echo ESCAPED; ipcs -q | grep -q 0x && echo ESCAPED; true",
  },
  {
    name: "its own environment",
    script: () => "env; tr '\\0' '\\n' < /proc/1/environ; tr '\\0' '\\n' < /proc/$PPID/environ",
  },
  {
    name: "open files it was not given",
    // Descriptor 3 is the listed folder itself.
    script: () =>
      "ls -l /proc/self/fd | grep -- '->' | grep -v ' [0-3] ->' | grep -v /dev/null && echo ESCAPED",
  },
];
