/**
 * One piece of work shared by three agents: an orchestrator starts two children, puts two tasks on
 * the board of which the second depends on the first, and waits. The first child does its part and
 * sends the second a message about the change; the board then notifies the second, which uses that
 * message. Each model is derived from its conversation, so a request that is repeated after a crash
 * gets the same answer.
 */
import type { Conversation } from "#test/model-server/script.ts";
import { objectOf } from "../delegation/dialects.ts";

export const REQUEST = "Refactor the auth module: update the API, then the page that uses it.";
export const MESSAGE = 'The endpoint is now POST /auth/token and answers {"token", "expiresAt"}.';
export const TASKS = { api: "Refactor the auth API", web: "Update the page's sign-in" } as const;
export const RESULTS = {
  api: "The API signs in at /auth/token.",
  web: "The page signs in at POST /auth/token.",
} as const;
export const REPORT = "Both parts of the auth refactor are done.";
/** The file that the second child writes from the message it read. */
export const FILE = "sign-in.txt";

type Part = keyof typeof TASKS;

export class Story {
  /** Tool results that no part of the story expects. */
  readonly surprises: string[] = [];
  readonly #children = new Map<Part, string>();
  readonly #tasks = new Map<Part, string>();

  playOrchestrator(conversation: Conversation): string {
    const { userText, round } = conversation;
    if (userText.includes(REQUEST)) return this.#delegate(conversation);
    if (round === 0) return call("task_list", {});
    const { items } = this.#answer(conversation) as { items?: { status: string }[] };
    const isDone = items?.length === 2 && items.every(({ status }) => status === "completed");
    return isDone ? `SAY ${REPORT}` : call("wait_for_event", {});
  }

  #delegate(conversation: Conversation): string {
    switch (conversation.round) {
      case 0:
        return spawn("api");
      case 1:
        this.#children.set("api", this.#idIn(conversation, "sessionId"));
        return spawn("web");
      case 2:
        this.#children.set("web", this.#idIn(conversation, "sessionId"));
        return this.#createTask("api", []);
      case 3:
        this.#tasks.set("api", this.#taskIn(conversation));
        return this.#createTask("web", [this.#tasks.get("api") ?? ""]);
      case 4:
        this.#tasks.set("web", this.#taskIn(conversation));
        return this.#begin("api", `Tell ${this.#children.get("web")} what has changed.`);
      case 5:
        this.#answer(conversation);
        return this.#begin("web", "It waits for another; you are told when it can begin.");
      default:
        return call("wait_for_event", {});
    }
  }

  #createTask(part: Part, blockedBy: string[]): string {
    return call("task_create", {
      title: TASKS[part],
      sessionId: this.#children.get(part),
      blockedBy,
    });
  }

  #begin(part: Part, rest: string): string {
    const sessionId = this.#children.get(part);
    return call("send_message", { sessionId, message: `BEGIN your task. ${rest}` });
  }

  /** The child with the first task. */
  playApi(conversation: Conversation): string {
    const to = /BEGIN your task\. Tell (\S+) what/.exec(conversation.userText)?.[1];
    if (to === undefined) return "SAY Ready.";
    switch (conversation.round) {
      case 0:
        return call("my_tasks", {});
      case 1:
        return call("task_update", { taskId: this.#mineIn(conversation), status: "in_progress" });
      case 2:
        this.#answer(conversation);
        return call("mailbox_send", { to, content: MESSAGE });
      case 3:
        this.#answer(conversation);
        return this.#complete("api");
      default:
        this.#answer(conversation);
        return "SAY The API is done.";
    }
  }

  /** The child with the dependent task. It begins when the board notifies it, and not before. */
  playWeb(conversation: Conversation): string {
    const { userText, userTexts, round } = conversation;
    if (!userText.includes("[tasks] ")) return "SAY I wait.";
    const endpoint = /The endpoint is now (\w+ \S+)/.exec(userTexts.join("\n"))?.[1];
    switch (round) {
      case 0:
        return call("my_tasks", {});
      case 1:
        return call("task_update", { taskId: this.#mineIn(conversation), status: "in_progress" });
      case 2:
        this.#answer(conversation);
        return call("write", { path: FILE, content: endpoint ?? "nobody told me" });
      default:
        return this.#finishWeb(conversation, endpoint);
    }
  }

  #finishWeb(conversation: Conversation, endpoint = "an unknown place"): string {
    const [result = ""] = conversation.toolResults;
    // It is unknown if it was written: writing it again does no harm.
    if (/interrupted/i.test(result)) return call("write", { path: FILE, content: endpoint });
    if (/"status":\s*"completed"/.test(result)) return "SAY The page is done.";
    return call("task_update", {
      taskId: this.#tasks.get("web"),
      status: "completed",
      result: `The page signs in at ${endpoint}.`,
    });
  }

  #complete(part: Part): string {
    return call("task_update", {
      taskId: this.#tasks.get(part),
      status: "completed",
      result: RESULTS[part],
    });
  }

  #idIn(conversation: Conversation, name: string): string {
    return String(this.#answer(conversation)[name] ?? "");
  }

  #taskIn(conversation: Conversation): string {
    const { task } = this.#answer(conversation) as { task?: { id: string } };
    return task?.id ?? "";
  }

  #mineIn(conversation: Conversation): string {
    const { items } = this.#answer(conversation) as { items?: { id: string }[] };
    return items?.[0]?.id ?? "";
  }

  /** The last tool result. All tools are the server's, so no outcome can be unknown. */
  #answer({ toolResults }: Conversation): Record<string, unknown> {
    const [result = ""] = toolResults;
    const answer = objectOf(result);
    if (Object.keys(answer).length === 0) this.surprises.push(result.slice(0, 300));
    return answer;
  }
}

function spawn(part: Part): string {
  const prompt = `PLAY ${part}\nYou work on the ${part}. Wait for your task.`;
  return call("spawn_session", { title: part, prompt });
}

function call(tool: string, input: object): string {
  return `CALL ${tool} ${JSON.stringify(input)}`;
}
