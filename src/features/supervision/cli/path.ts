/** Where the server keeps supervisor mode. */
export function supervisorPath(id: string): string {
  return `/api/orchestration/sessions/${encodeURIComponent(id)}`;
}

export function workerPath(id: string, workerId: string): string {
  return `${supervisorPath(id)}/workers/${encodeURIComponent(workerId)}`;
}
