import { testSandbox } from "../sandbox.contract.ts";
import { createLocal } from "./local.ts";

const NO_ISOLATION = {
  reason: "it isolates nothing, which is why it needs consent",
  tests: [
    "shows no environment in /proc either",
    "shows the system, and none of it can be written",
    "sees nothing else of the machine",
    "shows more of the machine, read-only, when told to",
    "shows the workspace read-only when told to",
    "begins in no other folder than the one that was meant",
    "has no network",
  ],
};

const path = "/usr/local/bin:/usr/bin:/bin";

testSandbox({
  name: "local",
  create: () => createLocal({ path }),
  skip: [NO_ISOLATION],
});
testSandbox({
  name: "local without control groups",
  create: () => createLocal({ path, controlGroups: null }),
  skip: [
    NO_ISOLATION,
    {
      reason: "nothing counts without control groups, and it says so",
      tests: [
        "allows no more processes than its limit",
        "ends a command that takes too much memory",
        "survives a fork bomb",
      ],
    },
  ],
});
