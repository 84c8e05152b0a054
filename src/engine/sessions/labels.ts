/**
 * Labels of a session: words by which features recognise their own sessions without a query. The
 * kernel stores them, offers tools by them (`ToolSpec.needsLabel`), and gives none a meaning. What a
 * feature knows about a labelled session is in the feature's own table.
 */
import type { SessionRow } from "../schema.ts";

type Labelled = Pick<SessionRow, "labels">;

export function labelsOf({ labels }: Labelled): string[] {
  return labels === "" ? [] : labels.split(" ");
}

export function hasLabel(row: Labelled, label: string): boolean {
  return labelsOf(row).includes(label);
}

/** Attaches a label to a locked session, or removes it. */
export function setLabel(row: Labelled, label: string, isSet: boolean): void {
  const others = labelsOf(row).filter((one) => one !== label);
  row.labels = (isSet ? [...others, label] : others).sort().join(" ");
}
