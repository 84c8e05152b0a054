import { expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { DiskWatch } from "./disk-watch.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function watch() {
  const clock = new FakeClock();
  const left = new AbortController();
  const disk = { looks: 0, tends: 0, pressed: false, finish: () => {} };
  const watching = new DiskWatch({
    disk: {
      look: () => {
        disk.looks += 1;
      },
      onChange: () => {},
      isPressed: () => disk.pressed,
      tend: () => {
        disk.tends += 1;
        return new Promise((resolve) => {
          disk.finish = resolve;
        });
      },
      report: () => ({}) as never,
    },
    clock,
    log: silentLog,
    left: left.signal,
    send: async () => {},
  });
  watching.start();
  const pass = async (seconds: number) => {
    for (let n = 0; n < seconds; n += 2) {
      clock.advance(2_000);
      await settle();
    }
  };
  return { disk, pass, end: () => left.abort() };
}

it("goes on looking at the disk while it is tended, and tends it once at a time", async () => {
  const { disk, pass, end } = watch();
  await pass(60);
  expect(disk.tends).toBe(1);
  const { looks } = disk;
  await pass(200);
  expect(disk.looks).toBe(looks + 100);
  expect(disk.tends).toBe(1);
  disk.finish();
  await settle();
  await pass(4);
  expect(disk.tends).toBe(2);
  end();
});

it("tends a disk that runs full without delay", async () => {
  const { disk, pass, end } = watch();
  disk.pressed = true;
  await pass(12);
  expect(disk.tends).toBe(1);
  end();
});
