/**
 * Converts a web page to markdown. A page can be made so that parsing it needs minutes or all
 * memory (100 KB of nested lists: ten seconds), so a separate thread does it, with limits, and is
 * ended when it exceeds them. The runner's leases must not wait for a page.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { ToolProblem } from "../perform-tool.ts";

const TIMEOUT_MS = 10_000;
const MAX_MEMORY_MB = 256;

/** The one method of a page's elements that is needed. */
interface Element {
  getAttribute(name: string): string | null;
}

interface Conversion {
  html: string;
  baseUrl: string;
  /** Path of the package for the thread: its code is a string and cannot resolve imports. */
  turndownPath: string;
}

export async function htmlToMarkdown(
  html: string,
  baseUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const turndownPath = createRequire(import.meta.url).resolve("turndown");
  const worker = new Worker(`(${convertInThread.toString()})()`, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { html, baseUrl, turndownPath } satisfies Conversion,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, stackSizeMb: 4 },
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    return await firstMessage(worker, limit);
  } finally {
    await worker.terminate();
  }
}

function firstMessage(worker: Worker, limit: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = () =>
      reject(new ToolProblem("The page is too complex to convert to text. Try another one."));
    worker.once("message", (text: string) => resolve(text));
    worker.once("error", fail);
    worker.once("exit", fail);
    limit.addEventListener("abort", fail, { once: true });
    if (limit.aborted) fail();
  });
}

/** Runs in the thread from its source text: it may use nothing from the surrounding module. */
function convertInThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { html, baseUrl, turndownPath } = workerData as Conversion;
  // No plain `require` or `import`: bundlers would replace their names.
  const load = process.getBuiltinModule("node:module").createRequire(turndownPath);
  const Turndown = load(turndownPath) as typeof import("turndown");
  const turndown = new Turndown({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  const absolute = (address: string | null) => {
    const url = address === null ? null : URL.parse(address, baseUrl);
    return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : null;
  };
  const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
  turndown.remove(["script", "style", "noscript", "nav", "footer", "iframe", "object", "button"]);
  turndown.remove((node) => ["svg", "template", "canvas"].includes(node.nodeName.toLowerCase()));
  turndown.addRule("link", {
    filter: "a",
    replacement(content, node) {
      const address = absolute((node as unknown as Element).getAttribute("href"));
      const text = oneLine(content);
      return address && text ? `[${text}](${address})` : text;
    },
  });
  turndown.addRule("image", {
    filter: "img",
    replacement(_content, node) {
      const address = absolute((node as unknown as Element).getAttribute("src"));
      const text = oneLine((node as unknown as Element).getAttribute("alt") ?? "");
      return address && text ? `![${text}](${address})` : "";
    },
  });
  turndown.addRule("cell", {
    filter: ["td", "th"],
    replacement: (content) => ` ${oneLine(content)} |`,
  });
  turndown.addRule("row", {
    filter: "tr",
    replacement: (content) => (content ? `\n|${content}` : ""),
  });
  parentPort?.postMessage(turndown.turndown(html));
}
