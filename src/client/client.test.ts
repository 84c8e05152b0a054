import { describe, expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { type ClientRequest, createClient, routePath } from "./client.ts";
import { fetchFile, fetchTransport } from "./fetch-transport.ts";
import { ROUTE_TABLE } from "./route-table.ts";

function recording() {
  const sent: ClientRequest[] = [];
  const client = createClient(async (request) => {
    sent.push(request);
    return {};
  });
  return { sent, client };
}

const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
  createClient(
    fetchTransport({
      baseUrl: "http://server.test",
      fetch: async () => new Response(body, { status, headers }),
    }),
  );

describe("a call", () => {
  test("fills and encodes the path, and leaves empty query fields out", async () => {
    const { sent, client } = recording();
    await client.tasks.list({
      id: "orchestrator:usr_1/x",
      query: { status: "pending", limit: 5, cursor: undefined },
    });
    expect(sent).toEqual([
      {
        method: "GET",
        path: "/api/sessions/orchestrator%3Ausr_1%2Fx/tasks?status=pending&limit=5",
        body: undefined,
      },
    ]);
  });

  test("sends the body and the options", async () => {
    const { sent, client } = recording();
    const { signal } = new AbortController();
    await client.tasks.create(
      { id: "ses_1", body: { title: "Mend it" } },
      { idempotencyKey: "k1", signal },
    );
    expect(sent).toEqual([
      {
        method: "POST",
        path: "/api/sessions/ses_1/tasks",
        body: { title: "Mend it" },
        idempotencyKey: "k1",
        signal,
      },
    ]);
  });

  test("refuses an empty path parameter before anything is sent", () => {
    const { sent, client } = recording();
    expect(() => client.tasks.get({ id: "ses_1", taskId: "" })).toThrow("taskId");
    expect(sent).toEqual([]);
  });

  test("types: a missing parameter, an unknown field and a wrong value do not compile", () => {
    const { client } = recording();
    const wrong = () => [
      // @ts-expect-error the session's id is missing
      client.tasks.list({}),
      // @ts-expect-error no such field
      client.tasks.create({ id: "ses_1", body: { title: "x", colour: "red" } }),
      // @ts-expect-error no such priority
      client.tasks.create({ id: "ses_1", body: { title: "x", priority: "soon" } }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});

test("a path alone, for streams and files", () => {
  expect(routePath(ROUTE_TABLE.tasks.get, { id: "a b", taskId: "t", query: { x: 1 } })).toBe(
    "/api/sessions/a%20b/tasks/t?x=1",
  );
});

describe("the fetch transport", () => {
  test("gives back the parsed answer", async () => {
    const client = answering(200, '{"items":[],"next":null}');
    expect(await client.tasks.byId({ query: { ids: "tsk_1" } })).toEqual({ items: [], next: null });
  });

  test("throws the server's refusal with its code, fields and pause", async () => {
    const body = JSON.stringify({
      error: { code: "limit", message: "Too much.", details: [{ path: "x", message: "y" }, 7] },
    });
    const client = answering(429, body, { "retry-after": "3" });
    const error = await client.tasks.byId({ query: { ids: "t" } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 429,
      code: "limit",
      message: "Too much.",
      details: [{ path: "x", message: "y" }],
      retryAfterMs: 3_000,
    });
  });

  test("throws `network` when no answer comes, and the abort as it is", async () => {
    const client = createClient(
      fetchTransport({
        baseUrl: "http://server.test",
        fetch: async (_url, init) => {
          init?.signal?.throwIfAborted();
          throw new TypeError("fetch failed");
        },
      }),
    );
    const call = (signal?: AbortSignal) => client.tasks.byId({ query: { ids: "t" } }, { signal });
    await expect(call()).rejects.toMatchObject({ status: 0, code: "network" });
    await expect(call(AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  });

  test("fetches a file, and throws the refusal of one", async () => {
    const from = (status: number, body: string) => ({
      baseUrl: "http://server.test",
      fetch: async () => new Response(body, { status }),
    });
    const path = routePath(ROUTE_TABLE.prompts.attachment, { id: "pmt_1", sha256: "ab" });
    expect(await (await fetchFile(from(200, "words"), path)).text()).toBe("words");
    const refused = fetchFile(from(404, '{"error":{"code":"not_found","message":"No."}}'), path);
    await expect(refused).rejects.toMatchObject({ status: 404, code: "not_found" });
  });
});
