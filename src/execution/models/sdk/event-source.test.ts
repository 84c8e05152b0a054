import { expect, it } from "vitest";
import { EventSource } from "./event-source.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

it.each([
  ["data: a\n\ndata: b\n\n", ["a", "b"]],
  ["event: x\ndata: a\nid: 7\n\n", ["a"]],
  ["data: a\r\n\r\ndata:b\r\n\r\n", ["a", "b"]],
  ["data: one\ndata: two\n\n", ["one\ntwo"]],
  [": a comment\n\n\n\ndata:  a\n\n", [" a"]],
  ["data: never ended\n", []],
])("reads %j", (text, data) => {
  expect(new EventSource().push(bytes(text))).toEqual(data);
});

it("puts events together from single bytes, letters of several bytes too", () => {
  const source = new EventSource();
  const pieces = [...bytes("data: größer – 🙂\n\ndata: b\n\n")].map((byte) => Uint8Array.of(byte));
  expect(pieces.flatMap((piece) => source.push(piece))).toEqual(["größer – 🙂", "b"]);
});
