/**
 * The process of the load generators. There is one for all contenders, so that all meet the same
 * clients.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import type { Job, JobResults } from "./jobs.ts";

export interface LoadProcess {
  run<J extends Job>(job: J): Promise<JobResults[J["kind"]]>;
  end(): void;
}

interface Answer {
  result?: unknown;
  error?: string;
}

export async function startLoad(): Promise<LoadProcess> {
  const child = fork(join(import.meta.dirname, "run-jobs.ts"), { stdio: "inherit" });
  await new Promise((resolve) => child.once("message", resolve));
  return {
    run(job) {
      return new Promise((resolve, reject) => {
        const onExit = () => reject(new Error("the load process ended"));
        child.once("exit", onExit);
        child.once("message", ({ result, error }: Answer) => {
          child.off("exit", onExit);
          if (error === undefined) resolve(result as never);
          else reject(new Error(error));
        });
        child.send(job);
      });
    },
    end() {
      child.kill();
    },
  };
}
