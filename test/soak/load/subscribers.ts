/**
 * Subscribers of sessions by live socket and by server-sent events. Some read for a while and
 * leave, some stop reading without leaving, and some come back at their cursor and must miss
 * nothing.
 */
import { type ClientRequest, get } from "node:http";
import { WebSocket } from "ws";
import { ROUTE_TABLE, routePath } from "#client/index.ts";
import type { Api } from "#test/faults/clients/api.ts";
import type { Random } from "#test/faults/random.ts";
import type { Person } from "./sessions.ts";
import { pause, type Worker } from "./worker.ts";

const STAY_MS = [2_000, 6_000] as const;
const STALL_MS = [5_000, 15_000] as const;
/** Reads of one returning subscriber before it switches to another session. */
const RETURNS = 4;
/**
 * Events before the end that a subscriber asks for: the same number in a long log as in a short
 * one.
 */
const TAIL = 300;

export interface Door {
  api: Api;
  url: string;
  key: string;
  /** Sessions that are busy all the time. */
  sessionIds: readonly [string, ...string[]];
  random: Random;
}

/** Reads the newest events, stays for a while, and leaves. */
export function createSocketReader(door: Door): Worker {
  const act = async (ending: AbortSignal) => {
    const socket = await openSocket(door);
    await subscribe(socket, door);
    await pause(door.random.between(...STAY_MS), ending);
    if (door.random.chance(0.5)) socket.close();
    else socket.terminate();
  };
  return { name: "socket reader", pauseMs: [200, 1_000], act };
}

/** Asks for the newest events and reads nothing, until it closes the connection. */
export function createStalledSocket(door: Door): Worker {
  const act = async (ending: AbortSignal) => {
    const socket = await openSocket(door);
    socket.pause();
    await subscribe(socket, door);
    await pause(door.random.between(...STALL_MS), ending);
    socket.terminate();
  };
  return { name: "stalled socket", pauseMs: [200, 1_000], act };
}

/** The same by server-sent events. */
export function createStalledStream(door: Door): Worker {
  const act = async (ending: AbortSignal) => {
    const request = await openStream(door);
    await pause(door.random.between(...STALL_MS), ending);
    request.destroy();
  };
  return { name: "stalled stream", pauseMs: [200, 1_000], act };
}

/** Follows a session over several connections; the numbers of its events must have no gap. */
export function createReturningReader({ ledger }: Person, door: Door): Worker {
  const { api } = door;
  const act = async (ending: AbortSignal) => {
    const sessionId = door.random.pick(door.sessionIds);
    let last = await tailOf(api, sessionId);
    for (let n = 0; n < RETURNS && !ending.aborted; n++) {
      const stay = AbortSignal.timeout(door.random.between(...STAY_MS));
      const over = AbortSignal.any([stay, ending]);
      for await (const { seq } of api.events(sessionId, last, over, 60_000)) {
        if (seq !== last + 1) ledger.complain(`${sessionId}: after event ${last} came ${seq}`);
        last = seq;
      }
    }
  };
  return { name: "returning reader", pauseMs: [200, 1_000], act };
}

async function openSocket({ url, key }: Door): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/live`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  return socket;
}

async function subscribe(socket: WebSocket, { api, sessionIds }: Door): Promise<void> {
  const send = (topic: string, after = 0) =>
    socket.send(JSON.stringify({ op: "subscribe", topic, after }));
  for (const id of sessionIds) send(`session:${id}`, await tailOf(api, id));
  send("me");
  send("runners");
}

async function tailOf(api: Api, sessionId: string): Promise<number> {
  const { session } = await api.patient.sessions.get({ id: sessionId });
  return Math.max(0, session.lastSeq - TAIL);
}

async function openStream({ api, url, key, sessionIds, random }: Door): Promise<ClientRequest> {
  const sessionId = random.pick(sessionIds);
  const query = { after: await tailOf(api, sessionId) };
  const path = routePath(ROUTE_TABLE.sessions.events, { id: sessionId, query });
  return new Promise((resolve, reject) => {
    const request = get(`${url}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      agent: false,
    });
    request.once("error", reject);
    request.once("response", (response) => {
      request.off("error", reject);
      request.on("error", () => {});
      response.on("error", () => {});
      resolve(request);
    });
  });
}
