import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globals: false,
    pool: "forks",
    // Most files wait for processes, disks and timers: on two cores a third worker is time won.
    maxWorkers: 3,
    // Bounds for what hangs, not for what is slow: disks may be cold and cores busy. A poll's own
    // default is one second.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "node",
          environment: "node",
          // Modules keep no state of their own, so files may share a process: many times faster.
          isolate: false,
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          setupFiles: ["test/generated-inputs.ts"],
        },
      },
      {
        extends: true,
        plugins: [react()],
        test: {
          name: "web",
          environment: "jsdom",
          include: ["src/**/*.test.tsx"],
        },
      },
    ],
  },
});
