import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: "src/main/web",
  base: "/",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../../../dist/web",
    // Old assets are removed later: pages that are open keep working across an upgrade.
    emptyOutDir: false,
    chunkSizeWarningLimit: 1000,
  },
  server: {
    port: 4748,
    proxy: { "/api": { target: "http://127.0.0.1:4747", ws: true } },
  },
});
