/** Getting out through the kernel: mounts, namespaces, devices, privileges, system calls. */
import type { Probe } from "../probe.ts";

const tell = (command: string) => `${command} && echo ESCAPED`;
const plain = (name: string, command: string, control?: Probe["control"]): Probe => ({
  name,
  script: () => tell(command),
  ...(control && { control }),
});

const arm = process.arch === "arm64";

/**
 * System calls with arguments that do nothing. Errors from the filter or from missing rights are
 * fine; any other answer shows that the kernel looked at the arguments.
 */
const CALLS: readonly [
  name: string,
  x64: number,
  arm64: number,
  args: string,
  allowed?: "control",
][] = [
  ["mount", 165, 40, "0, 0, 0, 0, 0"],
  ["umount2", 166, 39, "'/proc', 0"],
  ["pivot_root", 155, 41, "'/', '/'"],
  ["chroot", 161, 51, "'/'"],
  ["setns", 308, 268, "-1, 0", "control"],
  ["unshare of the user", 272, 97, "0x10000000"],
  ["unshare of mounts", 272, 97, "0x20000"],
  ["unshare of the network", 272, 97, "0x40000000"],
  ["open_tree", 428, 428, "-1, '/nothing', 0", "control"],
  ["move_mount", 429, 429, "-1, '', -1, '', 0"],
  ["fsopen", 430, 430, "'nothing', 0"],
  ["mount_setattr", 442, 442, "-1, '', 0, 0, 0"],
  ["add_key", 248, 217, "'user', 'probe', 'x', 1, -2", "control"],
  ["request_key", 249, 218, "'user', 'none', 0, -2", "control"],
  ["keyctl", 250, 219, "0, -3, 0", "control"],
  ["bpf", 321, 280, "999, 0, 0"],
  ["perf_event_open", 298, 241, "0, 0, -1, -1, 0"],
  ["io_uring_setup", 425, 425, "1, 0", "control"],
  ["userfaultfd", 323, 282, "0xffff"],
  ["init_module", 175, 105, "0, 0, ''"],
  ["finit_module", 313, 273, "-1, '', 0"],
  ["kexec_load", 246, 104, "0, 0, 0, 0xffff"],
  ["open_by_handle_at", 304, 265, "-1, 0, 0"],
  ["reboot with wrong numbers", 169, 142, "0, 0, 0, 0"],
  ["swapon", 167, 224, "'', 0"],
  ["quotactl", 179, 60, "0, 0, 0, 0"],
  ["syslog", 103, 116, "3, 0, 0"],
  ["clone3", 435, 435, "0, 0"],
];

/** Accepted errors: EPERM, ENOSYS, EACCES. */
const callProbes: Probe[] = CALLS.map(([name, x64, arm64, args, allowed]) => ({
  name: `system call ${name}`,
  script: () =>
    `perl -e 'my $z = ""; my $r = syscall(${arm ? arm64 : x64}, ${args.replace(/'(.*?)'/g, '"$z$1"')}); my $e = $!+0; print "answer $r $e\\n"; print "ESCAPED\\n" if $r >= 0 || ($e != 1 && $e != 38 && $e != 13)'`,
  expects: /answer -1/,
  ...(allowed && { control: "always" as const }),
}));

const SOCKETS: readonly [name: string, words: string, control?: Probe["control"]][] = [
  ["raw", "2, 3, 1", "root"],
  ["packet", "17, 3, 0", "root"],
  ["vsock", "40, 1, 0", "always"],
  ["crypto", "38, 5, 0"],
  ["bluetooth", "31, 3, 0"],
  ["can", "29, 3, 1"],
  ["tipc", "30, 1, 0"],
];
const socketProbes: Probe[] = SOCKETS.map(([name, words, control]) => ({
  name: `a ${name} socket`,
  script: () => `perl -MSocket -e 'print socket(my $s, ${words}) ? "ESCAPED\\n" : "answer $!\\n"'`,
  expects: /answer/,
  ...(control && { control }),
}));

/** Writes back the current value, so that a success changes nothing. */
const rewrite = (file: string) => tell(`v=$(cat ${file}) && echo "$v" > ${file}`);

export const kernelProbes: Probe[] = [
  ...callProbes,
  ...socketProbes,
  plain("make the system writable", "mount -o remount,rw /usr"),
  plain("make /proc writable", "mount -o remount,rw /proc"),
  plain("mount a folder", "mkdir -p m && mount --bind / m"),
  plain("mount memory", "mkdir -p m && mount -t tmpfs none m"),
  plain("mount another /proc", "mkdir -p m && mount -t proc proc m"),
  plain("unmount", "umount -l /workspace"),
  plain("a namespace for the user", "unshare -Ur true"),
  plain("a sandbox in the sandbox", "bwrap --unshare-user --bind / / true"),
  plain("enter the first process's namespaces", "nsenter -t 1 -m true"),
  plain("change the root", "chroot / true"),
  plain("a block device", "mknod disk b 8 0"),
  plain("a character device", "rm -f mem; mknod mem c 1 1", "root"),
  {
    name: "devices of the machine",
    script: () =>
      "for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg /dev/fuse /dev/kvm /dev/net/tun /dev/vsock /dev/loop0 /dev/input /dev/mapper; do [ -e $d ] && echo ESCAPED $d; done",
    control: "always",
  },
  plain("the kernel's memory", "head -c 1 /proc/kcore"),
  plain("keys", "cat /proc/keys", "always"),
  plain("timers of all processes", "cat /proc/timer_list", "root"),
  { name: "core_pattern", script: () => rewrite("/proc/sys/kernel/core_pattern"), control: "root" },
  { name: "the program that loads modules", script: () => rewrite("/proc/sys/kernel/modprobe") },
  {
    name: "another setting of the kernel",
    script: () => rewrite("/proc/sys/vm/swappiness"),
    control: "root",
  },
  plain("the request for help of the kernel", "[ -w /proc/sysrq-trigger ]"),
  plain("interrupts", "true >> /proc/irq/default_smp_affinity"),
  plain("not to be killed for memory", "echo -1000 > /proc/self/oom_score_adj"),
  {
    name: "control groups",
    script: () =>
      // Without a sandbox the first test answers: the whole disk is not searched.
      '[ -e /sys/fs/cgroup ] || [ -n "$(find / -xdev -name cgroup.procs 2>/dev/null | head -1)" ] && echo ESCAPED',
    control: "always",
  },
  {
    name: "capabilities",
    script: () =>
      "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED",
    control: "always",
  },
  {
    name: "new privileges",
    script: () => "grep -q '^NoNewPrivs:.*1' /proc/self/status || echo ESCAPED",
    control: "always",
  },
  {
    name: "a filter is in place",
    script: () => "grep -q '^Seccomp:.*2' /proc/self/status || echo ESCAPED",
    control: "always",
  },
  plain("become root by a program", "su -c true root </dev/null"),
  plain("become root by a call", "perl -e '$< = 0; $> = 0; exit($> == 0 ? 0 : 1)'", "root"),
  plain("become root by a marked file", "cp /usr/bin/id ./i && chmod u+s i && ./i -u | grep -qx 0"),
  plain("set the clock", 'date -s "@$(date +%s)"'),
  plain("name the machine", "hostname escaped"),
  plain("go before everyone", "chrt -f 50 true", "root"),
  plain("a larger core", "ulimit -c unlimited"),
  plain("a larger file", "truncate -s 3G large"),
  {
    name: "a core file",
    script: () => "sh -c 'kill -SEGV $$'; ls | grep core && echo ESCAPED",
  },
  {
    name: "type into the terminal",
    script: () =>
      `perl -e 'open(my $t, "+<", "/dev/ptmx") or die; my $c = "x"; my $r = ioctl($t, 0x5412, $c); print "answer $!\\n"; print "ESCAPED\\n" if $r || $!+0 != 1'`,
    expects: /answer/,
    control: "root",
  },
  {
    name: "calls in another numbering",
    script: () =>
      `perl -e 'my $r = syscall(0x40000000 + 39); print "answer $r\\n"; print "ESCAPED\\n" if $r > 0'`,
    expects: /answer -1/,
  },
];
