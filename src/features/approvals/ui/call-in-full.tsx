/** Tool call exactly as it will run. Every field of its input is visible. */
import type { ReactNode } from "react";
import { isRecord } from "#surfaces/web/kit/api/api-client.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { Verbatim } from "#surfaces/web/kit/text/verbatim.tsx";

interface CallInFullProps {
  tool: string;
  input: unknown;
  /** Working directory; null at the top of the workspace. */
  cwd?: string | null;
}

export function CallInFull({ tool, input, cwd = null }: CallInFullProps) {
  if (cwd === null) return <Input tool={tool} input={input} />;
  return (
    <div className="space-y-2">
      <Input tool={tool} input={input} />
      <Block label="Folder" text={cwd} />
    </div>
  );
}

function Input({ tool, input }: { tool: string; input: unknown }) {
  if (!isRecord(input)) return <Everything input={input} />;
  const { command, path, content, edits, url, plan, ...rest } = input;
  if (tool === "bash" && typeof command === "string")
    return (
      <Parts rest={{ path, content, edits, url, plan, ...rest }}>
        <Block label="Command" text={command} />
      </Parts>
    );
  if (tool === "write" && typeof path === "string" && typeof content === "string")
    return (
      <Parts rest={{ command, edits, url, plan, ...rest }}>
        <Block label="File" text={path} />
        <Block label="New content" text={content} />
      </Parts>
    );
  if (tool === "edit" && typeof path === "string" && Array.isArray(edits) && edits.every(isEdit))
    return (
      <Parts rest={{ command, content, url, plan, ...rest }}>
        <Block label="File" text={path} />
        {edits.map((edit, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: edits have no id, only a position
          <Replacement key={at} edit={edit} />
        ))}
      </Parts>
    );
  if (tool === "web_fetch" && typeof url === "string")
    return (
      <Parts rest={{ command, path, content, edits, plan, ...rest }}>
        <Block label={`URL at ${hostOf(url)}`} text={url} />
      </Parts>
    );
  if (typeof plan === "string")
    return (
      <Parts rest={{ command, path, content, edits, url, ...rest }}>
        <Block label="Plan" text={plan} isProse />
      </Parts>
    );
  return <Everything input={input} />;
}

interface Edit {
  oldText: string;
  newText: string;
}

function isEdit(value: unknown): value is Edit {
  return isRecord(value) && typeof value.oldText === "string" && typeof value.newText === "string";
}

function Replacement({ edit }: { edit: Edit }) {
  const { oldText, newText, ...rest } = edit;
  return (
    <div className="space-y-1">
      <Caption>Replace{sizeWords(oldText)}</Caption>
      <Verbatim text={oldText} label="Text to remove" tone="removed" />
      <Caption>with{sizeWords(newText)}</Caption>
      <Verbatim text={newText} label="Text to insert" tone="added" />
      {Object.keys(rest).length > 0 && <Everything input={rest} />}
    </div>
  );
}

function Parts({ children, rest }: { children: ReactNode; rest: Record<string, unknown> }) {
  const others = Object.entries(rest).filter(([, value]) => value !== undefined);
  return (
    <div className="space-y-2">
      {children}
      {others.length > 0 && (
        <Block
          label="Other input"
          text={others.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join("\n")}
        />
      )}
    </div>
  );
}

function Everything({ input }: { input: unknown }) {
  const text = typeof input === "string" ? input : JSON.stringify(input, null, 2);
  return <Block label="Input" text={text ?? ""} />;
}

interface BlockProps {
  label: string;
  text: string;
  isProse?: boolean;
}

function Block({ label, text, isProse = false }: BlockProps) {
  return (
    <div>
      <Caption>
        {label}
        <span className="font-normal">{sizeWords(text)}</span>
      </Caption>
      <Verbatim text={text} label={label} tall isProse={isProse} />
    </div>
  );
}

const SHORT_LINE = 80;

/** Returns the size of a text, or nothing when it is short enough to see at a glance. */
function sizeWords(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n").length;
  const characters = [...text].length;
  if (lines === 1 && characters <= SHORT_LINE) return "";
  return ` · ${plural(lines, "line")}, ${plural(characters, "character")}`;
}

function Caption({ children }: { children: ReactNode }) {
  return <p className="mb-1 text-2xs font-medium text-ink-faint">{children}</p>;
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "invalid URL";
  }
}
