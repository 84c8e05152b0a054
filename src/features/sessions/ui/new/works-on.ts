/** Workspace choice of a new session: none, a clone of a repository, or a folder as it is. Pure. */
import type { NewSession } from "./use-create-session.ts";

export interface WorksOn {
  kind: "nothing" | "repo" | "folder";
  repo: string;
  branch: string;
  projectDir: string;
}

export const WORKS_ON_NOTHING: WorksOn = { kind: "nothing", repo: "", branch: "", projectDir: "" };

type WorkspaceFields = Pick<NewSession, "repo" | "branch" | "projectDir">;
export type PlaceProblems = Partial<Record<keyof WorkspaceFields, string>>;

export function placeOf(works: WorksOn): WorkspaceFields {
  const [repo, branch, projectDir] = [works.repo, works.branch, works.projectDir].map((text) =>
    text.trim(),
  );
  if (works.kind === "folder" && projectDir) return { projectDir };
  if (works.kind !== "repo" || !repo) return {};
  return branch ? { repo, branch } : { repo };
}

/** Finds what would surely be refused; the runner checks the rest. */
export function placeProblems(works: WorksOn, repoNames: readonly string[] = []): PlaceProblems {
  if (works.kind === "folder") {
    const problem = folderProblem(works.projectDir.trim());
    return problem === undefined ? {} : { projectDir: problem };
  }
  if (works.kind === "nothing") return {};
  const problems: PlaceProblems = {};
  const repo = repoProblem(works.repo.trim(), repoNames);
  if (repo !== undefined) problems.repo = repo;
  if (/^-|\s|\.\.|@\{/.test(works.branch.trim()))
    problems.branch = "Not a valid branch name. Check the spelling.";
  return problems;
}

function folderProblem(path: string): string | undefined {
  if (path === "") return "Enter a folder.";
  return path.startsWith("/") ? undefined : "Enter the full path, starting with /.";
}

function repoProblem(address: string, repoNames: readonly string[]): string | undefined {
  if (address === "") return "Enter a repository.";
  if (repoNames.some((name) => name.toLowerCase() === address.toLowerCase())) return undefined;
  if (address.startsWith("/")) return undefined;
  if (/^(ssh|git):\/\//i.test(address) || /^[^/\s:]+@[^/\s:]+:/.test(address))
    return "SSH is not available in the sandbox. Use the https:// URL.";
  const url = URL.parse(address);
  if (!url || !/^(https?|file):$/.test(url.protocol))
    return "Enter a full URL (https://… or file://…), an absolute path, or the name of a repository from Settings.";
  return url.username || url.password
    ? "The URL contains a password, which would be stored and shown. Remove it."
    : undefined;
}

interface Refused {
  code: string;
  message: string;
  details: readonly { path: string; message: string }[];
}

/** Returns the server's refusal of one of these fields. */
export function refusedPlace(
  { code, message, details }: Refused,
  kind: WorksOn["kind"],
): PlaceProblems {
  const problems: PlaceProblems = {};
  if (code === "folder_not_allowed") problems[kind === "folder" ? "projectDir" : "repo"] = message;
  if (code === "repo_disabled") problems.repo = message;
  for (const { path, message: text } of details) {
    if (path === "repo" || path === "branch" || path === "projectDir") problems[path] = text;
  }
  return problems;
}
