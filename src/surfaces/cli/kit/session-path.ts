export function sessionPath(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}
