import { describe, expect, it } from "vitest";
import { membersOf } from "./json-members.ts";
import { readModelRequest } from "./model-request.ts";

const read = (text: string | Buffer, route: Parameters<typeof readModelRequest>[0] = "responses") =>
  readModelRequest(route, Buffer.from(text));

describe("a request to a model", () => {
  it("stays as it is", () => {
    const body = '{ "x": "\\u0041å", "model" : "m-1" ,"tools":[{"name":"look"}]\n}';
    for (const route of ["messages", "responses", "chat/completions"] as const) {
      const request = read(body, route);
      expect(request.model).toBe("m-1");
      expect(request.body.toString("utf8")).toBe(body);
    }
  });

  it("of a chat stream is made to say what it used, and nothing else is touched", () => {
    const chat = (text: string) => read(text, "chat/completions").body.toString("utf8");
    expect(chat('{"model":"m","stream":true}')).toBe(
      '{"stream_options":{"include_usage":true},"model":"m","stream":true}',
    );
    expect(
      chat('{"model":"m","stream_options": {"a":[1], "include_usage":false} ,"stream":true}'),
    ).toBe('{"model":"m","stream_options": {"a":[1],"include_usage":true},"stream":true}');
    expect(chat('{"model":"m","stream_options":null,"stream":true}')).toBe(
      '{"model":"m","stream_options":{"include_usage":true},"stream":true}',
    );
    const asked = '{"model":"m","stream":true,"stream_options":{"include_usage":true}}';
    expect(chat(asked)).toBe(asked);
    expect(chat('{"model":"m","stream":false}')).toBe('{"model":"m","stream":false}');
  });

  it.each([
    ['{"model":"small","model":"big"}', "gateway_field_repeated"],
    ['{"model":"small","mod\\u0065l":"big"}', "gateway_field_repeated"],
    ['{"tools":[],"model":"small","tools":[]}', "gateway_field_repeated"],
    ['{"model":"small","Model":"big"}', "gateway_field_repeated"],
    ['{"tools":[],"model":"small","tool\u017f":[]}', "gateway_field_repeated"],
    ["{}", "gateway_model_missing"],
    ['{"model":["m"]}', "gateway_model_missing"],
    ['{"model":""}', "gateway_model_missing"],
    [`{"model":"${"m".repeat(201)}"}`, "gateway_model_missing"],
    ['[{"model":"m"}]', "invalid_json"],
    ["", "invalid_json"],
    ['{"model":"m"} {"model":"big"}', "invalid_json"],
    ['{"model":"m",}', "invalid_json"],
    ["{'model':'m'}", "invalid_json"],
    ['{"model":"m" /* "model":"big" */}', "invalid_json"],
    ['\uFEFF{"model":"m"}', "invalid_json"],
    ['{"model":"m","models":["big"]}', "gateway_field_refused"],
    ['{"model":"m","route":"fallback"}', "gateway_field_refused"],
    ['{"model":"m","background":true}', "gateway_field_refused"],
    ['{"model":"m","previous_response_id":"resp_of_somebody"}', "gateway_field_refused"],
    ['{"model":"m","prompt":{"id":"pmpt_1"}}', "gateway_field_refused"],
    ['{"model":"m","service_tier":"priority"}', "gateway_field_refused"],
    ['{"model":"m","Background":true}', "gateway_field_refused"],
    ['{"model":"m","speed":"fast"}', "gateway_field_refused"],
    ['{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}', "gateway_content_refused"],
    ['{"model":"m","input":[{"id":"msg_1"}]}', "gateway_content_refused"],
    [
      '{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]}',
      "gateway_content_refused",
    ],
    [
      '{"model":"m","input":[{"type":"function_call_output","output":[{"type":"input_image","file_id":"f"}]}]}',
      "gateway_content_refused",
    ],
    [
      '{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]}',
      "gateway_content_refused",
    ],
    [
      '{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}]}',
      "gateway_content_refused",
    ],
    ['{"model":"m","tools":[{"type":"web_search"}]}', "gateway_tool_refused"],
    ['{"model":"m","Tools":[{"type":"web_search"}]}', "gateway_tool_refused"],
    [
      '{"model":"m","tools":[{"type":"shell","environment":{"type":"container_auto"}}]}',
      "gateway_tool_refused",
    ],
    ['{"model":"m","tools":[{"type":"code_interpreter"}]}', "gateway_tool_refused"],
    ['{"model":"m","tools":[{"type":["function"]}]}', "gateway_tool_refused"],
    [`{"model":"m","a":${"[".repeat(200)}${"]".repeat(200)}}`, "json_too_deep"],
    [`{"model":"m","a":[${"0,".repeat(600_000)}0]}`, "json_too_many_values"],
  ])("is refused: %.60s", (text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });

  it("is refused when it is not UTF-8", () => {
    const utf16 = Buffer.from('{"model":"m"}', "utf16le");
    for (const body of [utf16, Buffer.from([0x7b, 0xff, 0x7d])])
      expect(() => read(body)).toThrow(expect.objectContaining({ code: "invalid_json" }));
  });

  it("may use what is asked of models every day", () => {
    const fields = { background: false, service_tier: "auto", previous_response_id: null };
    const tools = [{ type: "function" }, { type: "custom" }, { type: "text_editor_20250728" }, {}];
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
      { type: "function_call", id: "fc_1", call_id: "c", name: "n", arguments: '{"file_id":"f"}' },
      { type: "function_call_output", call_id: "c", output: '{"file_id":"f"}' },
    ];
    const call = { type: "tool_use", id: "t", name: "n", input: { file_id: "f", id: "x" } };
    const messages = [{ role: "assistant", content: [call, { type: "text", text: "x" }] }];
    const body = { model: "m", tools, input, messages, system: "s", ...fields };
    expect(read(JSON.stringify(body)).model).toBe("m");
  });
});

describe("the members of an object", () => {
  it("are those of JSON.parse, for whatever stands in them", () => {
    const values = [
      '"a,b}"',
      '"\\\\"',
      '"\\""',
      "[1,{}]",
      '{"x":{"y":[","]}}',
      "1e3",
      "null",
      "true",
    ];
    for (let seed = 0; seed < 500; seed++) {
      const names = Array.from({ length: seed % 5 }, (_none, at) => `"k${at}\\u00e5,:{"`);
      const space = seed % 3 === 0 ? " \n" : "";
      const text = `${space}{${names
        .map(
          (name, at) =>
            `${space}${name}${space}:${space}${values[(seed * 7 + at) % values.length]}${space}`,
        )
        .join(",")}}${space}`;
      const bytes = Buffer.from(text);
      const found = membersOf(bytes).map(({ name, start, end }) => [
        name,
        JSON.parse(bytes.toString("utf8", start, end)) as unknown,
      ]);
      expect(Object.fromEntries(found)).toEqual(JSON.parse(text));
    }
  });
});
