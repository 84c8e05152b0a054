import { expect } from "vitest";
import type { WebSocket } from "ws";
import { type Assignment, LEASE_MS, RUNNER_PROTOCOL, type ServerFrame } from "#protocol/frames.ts";
import type { Platform } from "#test/platform.ts";
import { openSocket } from "./people.ts";

const PATIENT = { timeout: 15_000, interval: 25 };

/** A runner that the test drives over the socket that every runner uses. */
export async function connectRunner(platform: Platform, token: string, name = "own") {
  const headers = { authorization: `Bearer ${token}` };
  const socket: WebSocket = await openSocket(platform, "/api/runners/connect", headers);
  const frames: ServerFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data)) as ServerFrame));
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  send({
    op: "register",
    id: "1",
    protocol: RUNNER_PROTOCOL,
    bootId: "boot_1",
    profile: {
      name,
      hostname: name,
      folder: `/${name}`,
      profile: name,
      projectDir: null,
      tags: [name],
      runtimes: ["native"],
      capacity: 4,
      version: "0",
      models: ["small", "big"].map((model) => ({
        id: `lab/${model}`,
        provider: "lab",
        usable: true,
        why: null,
        price: null,
      })),
    },
    holding: [],
  });
  const assigned = async (): Promise<Assignment> => {
    const isAssign = (frame: ServerFrame) => frame.op === "assign";
    await expect.poll(() => frames.some(isAssign), PATIENT).toBe(true);
    const [frame] = frames.splice(frames.findIndex(isAssign), 1);
    return (frame as Extract<ServerFrame, { op: "assign" }>).assignment;
  };
  /** Sends a frame with an id of its own and returns its answer. */
  const ask = async (frame: object): Promise<ServerFrame> => {
    const id = `ask_${++last}`;
    send({ ...frame, id });
    const isAnswer = (one: ServerFrame) => "id" in one && one.id === id;
    await expect.poll(() => frames.some(isAnswer), PATIENT).toBe(true);
    return frames.find(isAnswer) as ServerFrame;
  };
  /** Renews the lease of a turn from now on, as a runner at work does. */
  const keep = ({ run, fence }: Assignment): void => {
    const renew = () => send({ op: "renew", id: `renew_${++last}`, runs: [{ run, fence }] });
    const timer = setInterval(renew, LEASE_MS / 5);
    socket.once("close", () => clearInterval(timer));
  };
  return { socket, frames, send, ask, assigned, keep };
}

let last = 0;
export type RawRunner = Awaited<ReturnType<typeof connectRunner>>;
