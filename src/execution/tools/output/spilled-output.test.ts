import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFakeWorkspace } from "../fake-workspace.ts";
import { createSpill } from "./spilled-output.ts";

it("keeps the latest output within its limit, and deletes nothing else", async () => {
  await using workspace = await openFakeWorkspace("local");
  const folder = join(workspace.scratchFolder, "muster-output");
  const outside = join(workspace.machineFolder, "outside");
  writeFileSync(outside, "outside");
  const spill = async (callId: string) => {
    const { file, path } = await createSpill(workspace, callId, 25_000)();
    await file.writeFile(Buffer.alloc(10_000, "x"));
    await file.close();
    return path;
  };
  for (const [age, name] of ["one", "two", "three"].entries()) {
    await spill(name);
    utimesSync(join(folder, `${name}.txt`), 1000 + age, 1000 + age);
  }
  mkdirSync(join(folder, "made-by-agent"));
  symlinkSync(outside, join(folder, "link"));
  const path = await spill("four");
  expect(existsSync(path)).toBe(true);
  // Each file takes three blocks of the disk: two have room, besides the new one.
  expect(readdirSync(folder).sort()).toEqual([
    ...["four.txt", "link", "made-by-agent", "three.txt", "two.txt"],
  ]);
  expect(readFileSync(outside, "utf8")).toBe("outside");
});
