/** One check: its result, and how to fix a problem. */
export interface Finding {
  name: string;
  level: "ok" | "warn" | "fail";
  text: string;
  mend?: string;
}

export const ok = (name: string, text: string): Finding => ({ name, level: "ok", text });
export const warn = (name: string, text: string, mend: string): Finding => ({
  name,
  level: "warn",
  text,
  mend,
});
export const fail = (name: string, text: string, mend: string): Finding => ({
  name,
  level: "fail",
  text,
  mend,
});
