import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply, until } from "#test/cli/fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

const PROMPTS = "/api/sessions/ses_1/prompts";
const EVENTS = "/api/sessions/ses_1/events";

describe("muster sessions retry", () => {
  const failed = () => {
    const prompt = Object.assign(server.newPrompt("count", null), {
      state: "settled",
      outcome: "failed",
    });
    server.answer("GET", PROMPTS, ({ query }, response) =>
      reply(response, 200, { items: query.state === "settled" ? [prompt] : [], next: null }),
    );
    return prompt;
  };

  it("sends the last failed prompt again and shows its turn", async () => {
    const prompt = failed();
    server.answer("POST", `/api/prompts/${prompt.id}/retry`, (_seen, response) => {
      const again = server.newPrompt("count", "retry");
      reply(response, 202, { prompt: again });
      void until(() => server.streaming > 0).then(() => {
        server.publish("run_claimed", { promptId: again.id });
        server.emit(again, "ent_1", "There are 7.");
        server.settle(again, "completed");
      });
    });
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "sessions", "retry", "ses_1")).toBe(0);
    expect(host.out).toBe("There are 7.\n");
  });

  it("does not wait for a retry that is over, and passes the server's refusal on", async () => {
    const prompt = failed();
    const again = { ...server.newPrompt("count", "retry"), state: "settled", outcome: "aborted" };
    server.answer("POST", `/api/prompts/${prompt.id}/retry`, (_seen, response) =>
      reply(response, 202, { prompt: again }),
    );
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "sessions", "retry", "ses_1")).not.toBe(0);
    expect(host.err).toContain(`muster sessions retry ses_1 ${again.id}`);

    server.answer("POST", "/api/prompts/pmt_9/retry", (_seen, response) =>
      reply(response, 409, { error: { code: "prompt_not_failed", message: "Send a new prompt." } }),
    );
    const other = createFakeHost({ env: server.env });
    expect(await runCommand(other, "sessions", "retry", "ses_1", "pmt_9")).not.toBe(0);
    expect(other.err).toContain("Send a new prompt.");
  });
});

describe("muster run", () => {
  it("streams the answer to standard output and everything about it to standard error", async () => {
    server.onPrompt = async (prompt) => {
      await until(() => server.streaming > 0);
      server.publish("run_claimed", { promptId: prompt.id });
      server.delta("ent_r", 0, "hmm", "reasoning");
      server.emit(prompt, "ent_r", "hmm, well", "reasoning");
      server.publish("pre_tool", {
        promptId: prompt.id,
        entryId: "ent_t",
        toolName: "bash",
        toolInput: { command: "ls -l" },
        data: { callId: "c1" },
      });
      server.publish("post_tool", {
        promptId: prompt.id,
        entryId: "ent_t2",
        toolName: "bash",
        toolOutput: "",
        error: "not allowed",
        data: { callId: "c1" },
      });
      server.publish("notice", {
        promptId: prompt.id,
        entryId: "ent_n",
        content: [{ type: "text", text: "mind the gap" }],
      });
      server.delta("ent_1", 0, "Hel");
      server.delta("ent_1", 3, "lo wor");
      server.emit(prompt, "ent_1", "Hello world");
      server.settle(prompt, "completed");
    };
    const host = createFakeHost({ env: server.env });
    expect(
      await runCommand(
        host,
        "run",
        "say hello",
        "--title",
        "T",
        "--model",
        "a/b",
        "--mode",
        "steer",
      ),
    ).toBe(0);
    expect(host.out).toBe("Hello world\n");
    expect(host.err).toBe("hmm, well\n→ bash ls -l\n  ✗ not allowed\n· mind the gap\n");
    const [created] = server.requests("POST", "/api/sessions");
    expect(created?.body).toEqual({ title: "T", model: "a/b" });
    expect(created?.headers["idempotency-key"]).toMatch(/^[\da-f-]{36}$/);
    const [sent] = server.requests("POST", PROMPTS);
    expect(sent?.body).toEqual({
      content: "say hello",
      mode: "steer",
      dispatchId: expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  it("goes on from the last event after a lost connection, and prints nothing twice", async () => {
    server.onPrompt = async (prompt) => {
      await until(() => server.streaming > 0);
      server.publish("run_claimed", { promptId: prompt.id });
      server.delta("ent_1", 0, "One, ");
      server.delta("ent_1", 5, "two, ");
      await until(() => host.out.endsWith("two, "));
      server.cutStreams();
      await until(() => server.streaming > 0 && server.requests("GET", EVENTS).length === 2);
      // A piece whose beginning was missed waits; the whole text is sent again later.
      server.delta("ent_1", 17, "four");
      server.delta("ent_1", 0, "One, two, three, four");
      server.emit(prompt, "ent_1", "One, two, three, four.");
      server.settle(prompt, "completed");
    };
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "count")).toBe(0);
    expect(host.out).toBe("One, two, three, four.\n");
    expect(server.requests("GET", EVENTS).map((seen) => seen.query.after)).toEqual(["0", "2"]);
  });

  it("waits for a server that restarts", async () => {
    server.onPrompt = async (prompt) => {
      await until(() => server.streaming > 0);
      server.refuse("GET", EVENTS, 503, "store_unavailable");
      server.cutStreams();
      await until(() => server.requests("GET", EVENTS).length >= 3);
      server.forget("GET", EVENTS);
      server.emit(prompt, "ent_1", "Back");
      server.settle(prompt, "completed");
    };
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "x")).toBe(0);
    expect(host.out).toBe("Back\n");
    expect(host.err.match(/does not answer/g)).toHaveLength(1);
  });

  it("asks again for events that were left out", async () => {
    server.onPrompt = (prompt) => {
      server.emit(prompt, "ent_1", "first");
      server.settle(prompt, "completed");
    };
    let isFirst = true;
    server.answer("GET", EVENTS, (_seen, response) => {
      if (!isFirst) {
        server.forget("GET", EVENTS);
        response.destroy();
        return;
      }
      isFirst = false;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        'id: 3\nevent: prompt_settled\ndata: {"seq":3,"type":"prompt_settled","promptId":"pmt_1"}\n\n',
      );
    });
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "x")).toBe(0);
    expect(host.out).toBe("first\n");
  });

  it("sends a prompt once, however often the answer is lost", async () => {
    server.onPrompt = (prompt) => server.settle(prompt, "completed");
    let lost = 0;
    server.answer("POST", PROMPTS, (seen, response) => {
      if (lost === 2) return server.acceptPrompt(seen, response);
      lost++;
      if (lost === 1) server.newPrompt(String(seen.body.content), String(seen.body.dispatchId));
      response.destroy();
    });
    const host = createFakeHost({ env: server.env });
    const done = runCommand(host, "run", "once");
    await until(() => server.requests("POST", PROMPTS).length === 3);
    const [prompt] = server.prompts.values();
    if (prompt) server.settle(prompt, "completed");
    expect(await done).toBe(0);
    expect(server.prompts.size).toBe(1);
    expect(new Set(server.requests("POST", PROMPTS).map((seen) => seen.body.dispatchId)).size).toBe(
      1,
    );
  });

  it("prints events as JSON lines and the prompt last", async () => {
    server.publish("notice", { promptId: "pmt_other" });
    server.onPrompt = (prompt) => {
      server.publish("run_claimed", { promptId: prompt.id });
      server.emit(prompt, "ent_1", "Hi");
      server.settle(prompt, "completed");
    };
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "--json", "--session", "ses_1", "hi")).toBe(0);
    const lines = host.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual([
      "prompt_accepted",
      "run_claimed",
      "message",
      "prompt_settled",
      undefined,
    ]);
    expect(lines.at(-1).prompt).toMatchObject({ id: "pmt_1", outcome: "completed" });
    expect(server.requests("POST", "/api/sessions")).toHaveLength(0);
  });

  it("fails when the turn fails, and says why", async () => {
    server.onPrompt = (prompt) =>
      server.settle(prompt, "failed", { error: { code: "model_error", message: "Overloaded." } });
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "x")).toBe(1);
    expect(host.err).toBe("The turn ended as failed: Overloaded. [model_error]\n");
  });

  it("follows the turn that answers a prompt which was merged with others", async () => {
    server.onPrompt = (prompt) => {
      const merged = server.newPrompt("all", null);
      server.settle(prompt, "merged", { mergedInto: merged.id });
      server.emit(merged, "ent_1", "All at once");
      server.settle(merged, "completed");
    };
    const host = createFakeHost({ env: server.env });
    expect(await runCommand(host, "run", "x", "--mode", "collect")).toBe(0);
    expect(host.out).toBe("All at once\n");
  });

  it("says that a prompt was taken as an answer, and follows the turn that asked", async () => {
    server.onPrompt = (prompt) => {
      const asking = server.newPrompt("asking", null);
      server.settle(prompt, "merged", { mergedInto: asking.id }, { answeredGate: "apr_1" });
      server.emit(asking, "ent_1", "Blue it is");
      server.settle(asking, "completed");
    };
    const host = createFakeHost({ env: server.env, isTTY: true });
    expect(await runCommand(host, "run", "--session", "ses_1", "Blue")).toBe(0);
    expect(host.out).toBe("Blue it is\n");
    expect(host.err).toContain("Delivered as the answer to its question.");
  });

  it("shows nothing of other turns", async () => {
    server.onPrompt = async (prompt) => {
      await until(() => server.streaming > 0);
      server.delta("ent_0", 0, "not ours");
      server.publish("message", {
        promptId: "pmt_0",
        entryId: "ent_0",
        kind: "text",
        role: "assistant",
        content: [{ type: "text", text: "not ours" }],
      });
      server.publish("run_claimed", { promptId: prompt.id });
      server.emit(prompt, "ent_1", "ours");
      server.settle(prompt, "completed");
    };
    const host = createFakeHost({ env: server.env });
    await runCommand(host, "run", "x");
    expect(host.out).toBe("ours\n");
  });

  it("reads the prompt from standard input", async () => {
    server.onPrompt = (prompt) => server.settle(prompt, "completed");
    await runCommand(createFakeHost({ env: server.env, input: "from a pipe\n" }), "run");
    await runCommand(createFakeHost({ env: server.env, input: "by a dash\n" }), "run", "-");
    expect([...server.prompts.values()].map((prompt) => prompt.content)).toEqual([
      "from a pipe\n",
      "by a dash\n",
    ]);
    expect(await runCommand(createFakeHost({ env: server.env, input: " \n" }), "run")).toBe(2);
    expect(await runCommand(createFakeHost({ env: server.env }), "run")).toBe(2);
  });

  it("keeps an agent's escape sequences away from a terminal, and colour where it is not wanted", async () => {
    server.onPrompt = (prompt) => {
      server.emit(prompt, "ent_0", "thinking", "reasoning");
      server.emit(prompt, "ent_1", "a\u001b]52;c;ZXZpbA==\u0007b\u001b[2J");
      server.settle(prompt, "completed");
    };
    const terminal = createFakeHost({ env: server.env, isTTY: true });
    await runCommand(terminal, "run", "x");
    expect(terminal.out).toBe("a<U+001B>]52;c;ZXZpbA==<U+0007>b<U+001B>[2J\n");
    expect(terminal.err).toContain("\u001b[2mthinking\u001b[22m");
    const plain = createFakeHost({ env: { ...server.env, NO_COLOR: "1" }, isTTY: true });
    await runCommand(plain, "run", "x");
    expect(plain.err).not.toContain("\u001b");
  });

  it("writes no control character of an agent's through a pipe, as text or as JSON", async () => {
    const hostile = "a\u001b]52;c;ZXZpbA==\u0007\u009b2J\u202eb\u0085\r";
    server.onPrompt = (prompt) => {
      server.delta("ent_1", 0, hostile);
      server.publish("notice", { promptId: prompt.id, content: [{ type: "text", text: hostile }] });
      server.publish("pre_tool", {
        promptId: prompt.id,
        toolName: hostile,
        toolInput: { command: hostile },
      });
      server.emit(prompt, "ent_1", hostile);
      server.settle(prompt, "failed", { error: { code: hostile, message: hostile } });
    };
    for (const words of [
      ["run", "x"],
      ["run", "--json", "x"],
    ]) {
      const host = createFakeHost({ env: server.env });
      await runCommand(host, ...words);
      expect(host.out + host.err).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
      expect(host.out).toMatch(words.length > 2 ? /a\\u001b\]52/ : /a<U\+001B>\]52/);
    }
  });

  it("withdraws a prompt that has not begun instead of stopping somebody else's turn", async () => {
    const host = createFakeHost({ env: server.env });
    server.answer("DELETE", "/api/prompts/pmt_1", (_seen, response) => {
      response.end("{}");
      const prompt = server.prompts.get("pmt_1");
      if (prompt) server.settle(prompt, "withdrawn");
    });
    server.onPrompt = () => void until(() => server.streaming > 0).then(() => host.interrupt());
    expect(await runCommand(host, "run", "x")).toBe(130);
    expect(server.requests("POST", "/api/sessions/ses_1/stop")).toHaveLength(0);
  });
});
