import { afterEach, expect, it } from "vitest";
import { keepDraft, readDraft } from "../prompts/session-draft.ts";
import {
  announceExpiry,
  forgetContent,
  leave,
  noteSignedInHere,
  onPersonChange,
  takeOver,
  takeSignedInHere,
  unsentPrefix,
} from "./tab-person.ts";

const unsentKey = (userId: string) => `${unsentPrefix(userId)}dispatch`;

afterEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

it("forgets drafts and unsent prompts, and nothing else", () => {
  keepDraft("ses_1", "half a thought");
  localStorage.setItem(unsentKey("usr_1"), "[]");
  localStorage.setItem("muster.folded", "[]");
  forgetContent();
  expect(readDraft("ses_1")).toBe("");
  expect(Object.keys(localStorage)).toEqual(["muster.folded"]);
});

it("keeps a person's own drafts, and drops those that somebody else has left", () => {
  takeOver("usr_1");
  keepDraft("ses_1", "mine");
  localStorage.setItem(unsentKey("usr_1"), "[]");
  takeOver("usr_1");
  expect(readDraft("ses_1")).toBe("mine");
  expect(localStorage.getItem(unsentKey("usr_1"))).toBe("[]");
  takeOver("usr_2");
  expect(readDraft("ses_1")).toBe("");
  expect(localStorage.getItem(unsentKey("usr_1"))).toBeNull();
});

it("keeps what was written when a sign-in expires, and drops it with a sign-out", () => {
  takeOver("usr_1");
  keepDraft("ses_1", "mine");
  localStorage.setItem(unsentKey("usr_1"), "[]");
  announceExpiry();
  expect(localStorage.getItem("muster.person")).toBe("");
  expect(readDraft("ses_1")).toBe("mine");
  expect(localStorage.getItem(unsentKey("usr_1"))).toBe("[]");
  takeOver("usr_1");
  expect(localStorage.getItem("muster.person")).toBe("usr_1");
  leave();
  // A sign-out announces no expiry.
  announceExpiry();
  expect(readDraft("ses_1")).toBe("");
  expect(Object.keys(localStorage)).toEqual([]);
});

it("leaves alone what belongs to the person who came", () => {
  for (const id of ["usr_1", "usr_2"]) localStorage.setItem(unsentKey(id), "[]");
  forgetContent("usr_2");
  expect(Object.keys(localStorage)).toEqual([unsentKey("usr_2")]);
});

it("hears what other tabs say about who is signed in", () => {
  const received: (string | null)[] = [];
  const stop = onPersonChange((id) => received.push(id));
  const say = (key: string | null, newValue: string | null) =>
    window.dispatchEvent(new StorageEvent("storage", { key, newValue }));
  say("muster.person", "usr_2");
  say("something else", "usr_3");
  say("muster.person", null);
  say(null, null);
  stop();
  say("muster.person", "usr_4");
  expect(received).toEqual(["usr_2", null, null]);
});

it("knows once that this tab signed somebody in", () => {
  noteSignedInHere();
  expect([takeSignedInHere(), takeSignedInHere()]).toEqual([true, false]);
});
