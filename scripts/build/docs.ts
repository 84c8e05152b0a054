import { cp, mkdir } from "node:fs/promises";
import { basename } from "node:path";

// The API documentation page is served from our own origin, never from a CDN.
const FILES = ["swagger-ui-dist/swagger-ui-bundle.js", "swagger-ui-dist/swagger-ui.css"];

export async function copyDocsFiles(): Promise<void> {
  await mkdir("dist/docs", { recursive: true });
  for (const file of FILES) await cp(`node_modules/${file}`, `dist/docs/${basename(file)}`);
}
