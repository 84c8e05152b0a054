/** Answers a runner's requests about the runs it holds and the sessions whose files it keeps. */

import type { RunnerRow } from "#engine/schema.ts";
import type { RunnerFrame, ServerFrame } from "#protocol/frames.ts";
import type { AssignedRun, ConnectionHost } from "./connection-host.ts";
import { openRepository } from "./repository-access.ts";
import { classifySessions, fetchBlob, readBrief, readHistory, storeBlob } from "./turn-material.ts";

export type RunnerRequest = Extract<
  RunnerFrame,
  { op: "tool" | "history" | "brief" | "repository" | "blob" | "fetch_blob" | "sessions" }
>;

type MaterialRequest = Extract<RunnerRequest, { op: "history" | "brief" | "blob" | "fetch_blob" }>;

export interface RequestingRunner {
  host: ConnectionHost;
  runner: RunnerRow;
  held: ReadonlyMap<string, AssignedRun>;
}

export async function answerRequest(
  requester: RequestingRunner,
  frame: RunnerRequest,
): Promise<ServerFrame> {
  const { host, runner } = requester;
  switch (frame.op) {
    case "tool":
      return callTool(requester, frame);
    case "repository": {
      const { id, run, fence } = frame;
      const opened = await openRepository(host.engine, host.openers, runner, { run, fence });
      return "lost" in opened ? lost(frame) : { op: "repository", id, access: opened.access };
    }
    case "sessions": {
      const lives = await classifySessions(host.engine, runner, frame.sessions);
      return { op: "sessions", id: frame.id, ...lives };
    }
    default: {
      const held = requester.held.get(frame.run);
      return held?.fence === frame.fence ? answerMaterial(requester, held, frame) : lost(frame);
    }
  }
}

async function callTool(
  { host, runner }: RequestingRunner,
  frame: Extract<RunnerRequest, { op: "tool" }>,
): Promise<ServerFrame> {
  const { id, run, fence, callId, name } = frame;
  const answer = await host.tools.call({ runId: run, fence, runnerId: runner.id, callId }, name);
  return "lost" in answer ? lost({ id, run }) : { op: "tool_result", id, ...answer };
}

async function answerMaterial(
  { host: { engine, config }, runner }: RequestingRunner,
  held: AssignedRun,
  frame: MaterialRequest,
): Promise<ServerFrame> {
  const { id, run } = frame;
  switch (frame.op) {
    case "history": {
      const page = await readHistory(engine, held, run, frame.beforeSeq, frame.limit);
      return { op: "history", id, ...page };
    }
    case "brief":
      return { op: "brief", id, ...(await readBrief(engine, config.briefing, held)) };
    case "blob": {
      const { mediaType, data } = frame;
      const place = { orgId: runner.org_id, sessionId: held.sessionId };
      const { sha256 } = await storeBlob(engine, place, mediaType, data);
      return { op: "blob", id, sha256, mediaType, data: null };
    }
    case "fetch_blob":
      return { op: "blob", id, ...(await fetchBlob(engine, held.sessionId, frame.sha256)) };
  }
}

function lost({ id, run }: { id: string; run: string }): ServerFrame {
  return { op: "lost", id, run, code: "stale_fence" };
}
