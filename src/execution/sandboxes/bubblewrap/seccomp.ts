/**
 * Filter of system calls, as a classic BPF program. It closes holes that namespaces leave: kernel
 * keyrings are inherited, vsock reaches the machine's own host, io_uring makes sockets behind a
 * filter's back, TIOCSTI types into a terminal, and a new user namespace opens much of the kernel.
 * Everything else is allowed, so that compilers, browsers' engines and debuggers work.
 */
import { arch } from "node:os";

type Numbers = Readonly<Record<string, number>>;
interface Machine {
  audit: number;
  denied: Numbers;
  clone: number;
  socket: number;
  socketpair: number;
  ioctl: number;
  unshare: number;
}

/** Numbers that are the same on all machines, because they are newer than the common numbering. */
const MODERN: Numbers = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
};
const CLONE3 = 435;

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    unshare: 272,
    denied: {
      ...MODERN,
      syslog: 103,
      vhangup: 153,
      modify_ldt: 154,
      pivot_root: 155,
      chroot: 161,
      acct: 163,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      iopl: 172,
      ioperm: 173,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      lookup_dcookie: 212,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    unshare: 97,
    denied: {
      ...MODERN,
      lookup_dcookie: 18,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      chroot: 51,
      vhangup: 58,
      quotactl: 60,
      acct: 89,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      syslog: 116,
      reboot: 142,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
};

const ALLOW = 0x7fff0000;
const errno = (code: number) => 0x00050000 | code;
const EPERM = errno(1);
const ENOSYS = errno(38);
const EAFNOSUPPORT = errno(97);

/** unix, inet, inet6, netlink: all that programs need, and all that a network namespace confines. */
const FAMILIES = [1, 2, 10, 16];
const TERMINAL_TRICKS = [0x5412, 0x541c]; // TIOCSTI, TIOCLINUX
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME_NAMESPACE = 0x80; // In clone's flags this bit is part of a signal's number.

const NR = 0;
const ARCH = 4;
const argument = (index: number) => 16 + 8 * index; // The low half; both machines are little-endian.

type Step = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const load = (offset: number): Step => [0x20, 0, 0, offset];
const equals = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x15,
  ifTrue,
  ifFalse,
  value,
];
const atLeast = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x35,
  ifTrue,
  ifFalse,
  value,
];
const hasBits = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x45,
  ifTrue,
  ifFalse,
  value,
];
const end = (value: number): Step => [0x06, 0, 0, value];

/** Undefined on machines whose numbers are not listed here; then there is no filter. */
export function buildSeccompFilter(machineName: string = arch()): Buffer | undefined {
  const machine = MACHINES[machineName];
  if (!machine) return undefined;
  return assemble([
    // Calls of another architecture (32-bit on 64) have other numbers: none are accepted.
    load(ARCH),
    equals(machine.audit, 1, 0),
    end(EPERM),
    load(NR),
    atLeast(0x40000000, 0, 1),
    end(ENOSYS),
    ...Object.values(machine.denied).flatMap((number) => [equals(number, 0, 1), end(EPERM)]),
    // The flags of clone3 are in memory, where a filter cannot look; programs then use clone.
    equals(CLONE3, 0, 1),
    end(ENOSYS),
    ...whenCalled(machine.clone, 0, [hasBits(NEW_NAMESPACES, 0, 1), end(EPERM)]),
    ...whenCalled(machine.unshare, 0, [
      hasBits(NEW_NAMESPACES | NEW_TIME_NAMESPACE, 0, 1),
      end(EPERM),
    ]),
    ...whenCalled(
      machine.ioctl,
      1,
      TERMINAL_TRICKS.flatMap((n) => [equals(n, 0, 1), end(EPERM)]),
    ),
    ...whenCalled(machine.socket, 0, onlyFamilies()),
    ...whenCalled(machine.socketpair, 0, onlyFamilies()),
    end(ALLOW),
  ]);
}

function onlyFamilies(): Step[] {
  const checks = FAMILIES.map((family, i) => equals(family, FAMILIES.length - i, 0));
  return [...checks, end(EAFNOSUPPORT)];
}

function whenCalled(number: number, index: number, steps: readonly Step[]): Step[] {
  const body = [load(argument(index)), ...steps, load(NR)];
  return [equals(number, 0, body.length), ...body];
}

function assemble(steps: readonly Step[]): Buffer {
  const program = Buffer.alloc(steps.length * 8);
  for (const [i, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    program.writeUInt16LE(code, i * 8);
    program.writeUInt8(ifTrue, i * 8 + 2);
    program.writeUInt8(ifFalse, i * 8 + 3);
    program.writeUInt32LE(value >>> 0, i * 8 + 4);
  }
  return program;
}
