import { testRuntime } from "#execution/runtimes/runtime.contract.ts";
import { createEchoRuntime } from "./echo-runtime.ts";

testRuntime({
  name: "echo",
  create: createEchoRuntime,
  prompts: { answer: "hello there", slow: "hello", tool: "hello" },
  skip: [
    {
      reason: "it knows no tools",
      tests: [
        "takes a step before it calls a tool",
        "journals a call before it makes it, and its result after",
        "does not reject when a tool fails",
        "never makes a call that was in flight a second time",
      ],
    },
    {
      reason: "it is done before anybody can stop it",
      tests: ["keeps what was written when it is stopped"],
    },
  ],
});
