/** Metric families in Prometheus' text format. */
import type { MetricFamily, Sample } from "#features/metrics/contract.ts";

const MAX_LABEL_CHARS = 200;

export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map((family) => `${linesOf(family).join("\n")}\n`).join("");
}

function linesOf({ name, help, type, samples }: MetricFamily): string[] {
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  return [...head, ...samples.map((sample) => lineOf(name, sample))];
}

function lineOf(name: string, { suffix, labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  const set = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${name}${suffix ?? ""}${set} ${value}`;
}

/** Other people choose the names of runners and models: a name must not begin a new line. */
function escaped(text: string): string {
  return text
    .slice(0, MAX_LABEL_CHARS)
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/\p{Cc}/gu, (char) => (char === "\n" ? "\\n" : " "));
}
