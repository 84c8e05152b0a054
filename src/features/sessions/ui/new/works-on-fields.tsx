import { useId } from "react";
import { SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { useRunners } from "../list/sandbox-state.tsx";
import type { PlaceProblems, WorksOn } from "./works-on.ts";

interface WorksOnFieldsProps {
  works: WorksOn;
  /** Known repositories, which can be named instead of addressed. */
  repoNames: readonly string[];
  problems: PlaceProblems;
  onChange: (works: WorksOn) => void;
}

export function WorksOnFields({ works, repoNames, problems, onChange }: WorksOnFieldsProps) {
  const repoList = useId();
  const set = (change: Partial<WorksOn>) => onChange({ ...works, ...change });
  return (
    <>
      <SelectField
        label="Works on"
        value={works.kind}
        onChange={(event) => set({ kind: event.target.value as WorksOn["kind"] })}
      >
        <option value="nothing">Empty workspace</option>
        <option value="repo">Git repository</option>
        <option value="folder">Folder on the runner's machine</option>
      </SelectField>
      {works.kind === "repo" && (
        <div className="grid gap-3.5 sm:grid-cols-[2fr_1fr]">
          <TextField
            label="Repository"
            hint="cloned; the original is not changed"
            problem={problems.repo}
            inputMode="url"
            spellCheck={false}
            maxLength={2_000}
            placeholder="https://github.com/you/project"
            list={repoList}
            value={works.repo}
            onChange={(event) => set({ repo: event.target.value })}
          />
          <datalist id={repoList}>
            {repoNames.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <TextField
            label="Branch"
            hint="optional"
            problem={problems.branch}
            spellCheck={false}
            maxLength={250}
            placeholder="main"
            value={works.branch}
            onChange={(event) => set({ branch: event.target.value })}
          />
        </div>
      )}
      {works.kind === "folder" && (
        <FolderField
          path={works.projectDir}
          problem={problems.projectDir}
          onChange={(projectDir) => set({ projectDir })}
        />
      )}
    </>
  );
}

interface FolderFieldProps {
  path: string;
  problem: string | undefined;
  onChange: (path: string) => void;
}

function FolderField({ path, problem, onChange }: FolderFieldProps) {
  const list = useId();
  const folders = useRunners().flatMap(({ projectDir }) => projectDir ?? []);
  return (
    <>
      <TextField
        label="Folder"
        hint="edited in place"
        problem={problem}
        spellCheck={false}
        maxLength={4_096}
        placeholder="/home/you/project"
        list={list}
        value={path}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {[...new Set(folders)].map((folder) => (
          <option key={folder} value={folder} />
        ))}
      </datalist>
    </>
  );
}
