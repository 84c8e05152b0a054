/** The floor's model call: a kept connection, text forwarded as it comes, nothing checked. */
import { Agent, request } from "node:http";
import { requestBody } from "./model/answers.ts";

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const TEXT = /"type":"text_delta","text":"([^"]*)"/g;

export function askModel(
  port: number,
  model: string,
  content: string,
  show: (text: string) => void,
): Promise<string> {
  const body = requestBody(model, content);
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request(
      { port, host: "127.0.0.1", path: "/v1/messages", method: "POST", agent, headers },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          const words = [...chunk.matchAll(TEXT)].map(([, word = ""]) => word).join("");
          if (words !== "") show(words);
          text += words;
        });
        response.on("end", () => resolve(text));
        response.on("error", reject);
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}
