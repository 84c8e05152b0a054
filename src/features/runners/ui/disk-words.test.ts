import { expect, it } from "vitest";
import { databaseWords, diskProblem, diskWords } from "./disk-words.ts";

const GB = 1e9;

const disk = {
  freeBytes: 50 * GB,
  totalBytes: 100 * GB,
  floorBytes: 5 * GB,
  isLow: false,
  quota: { bytes: 20 * GB, files: 1_000_000 },
  workspaces: { count: 1, bytes: 2 * GB },
  mirrors: { count: 2, bytes: GB },
  removed: { count: 3, bytes: 4 * GB },
  at: "2026-01-01T00:00:00.000Z",
};

it("says what a runner's disk holds and may hold", () => {
  const words = diskWords(disk);
  expect(words).toContain("50 GB of 100 GB free, 5 GB reserved");
  expect(words).toContain("1 workspace: 2 GB, limit 20 GB and 1,000,000 files each");
  expect(words).toContain("2 repository copies: 1 GB");
});

it("says what is wrong with a disk, and names files when they run out", () => {
  expect(diskProblem(disk)).toBeNull();
  expect(diskProblem({ ...disk, isPressed: true })).toContain("filling up");
  expect(diskProblem({ ...disk, isPressed: true, isLow: true })).toContain("almost full");
  expect(diskWords({ ...disk, freeFiles: 1_000, totalFiles: 1_000_000 })).toContain(
    "only 1,000 more files fit",
  );
});

it("says what the database takes up, and leaves out what there is not", () => {
  const use = {
    databaseBytes: 3 * GB,
    logBytes: 0,
    reserveBytes: 0,
    backups: { count: 0, bytes: 0 },
    freeBytes: null,
  };
  expect(databaseWords(use)).toBe("Database 3 GB, including attachments");
  expect(databaseWords({ ...use, backups: { count: 2, bytes: GB }, freeBytes: 7 * GB })).toContain(
    "2 backups 1 GB · 7 GB free on disk",
  );
});
