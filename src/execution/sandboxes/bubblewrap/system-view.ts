/** Finds the parts of this machine that commands see. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { makeEtcFolder } from "./etc-folder.ts";
import { PROC_FILES_TO_HIDE, type SystemView } from "./view.ts";

const TOP_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Makes the view once for each process that uses `folder`; removes what earlier ones left. */
export function findSystemView(folder: string): SystemView {
  const name = `etc-${process.pid}-${Math.round(performance.timeOrigin)}`;
  const etcFolder = join(folder, name);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(etcFolder)) {
    for (const old of readdirSync(folder)) rmSync(join(folder, old), { recursive: true });
    makeEtcFolder(`${etcFolder}.new`);
    renameSync(`${etcFolder}.new`, etcFolder);
  }
  const there = TOP_FOLDERS.filter((top) => existsSync(top));
  const isLink = (path: string) => lstatSync(path).isSymbolicLink();
  return {
    folders: ["/usr", ...there.filter((top) => !isLink(top))],
    links: there.filter(isLink).map((at) => ({ target: readlinkSync(at), at })),
    etcFolder,
    hidden: PROC_FILES_TO_HIDE.map((file) => join("/proc", file)).filter((file) =>
      existsSync(file),
    ),
  };
}
