import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ToastProvider } from "#surfaces/web/kit/toast.tsx";
import { createQueryClient } from "#surfaces/web/shell/query-client.ts";
import { createAppRouter } from "./pages.tsx";
import "#surfaces/web/theme.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <ToastProvider>
        <RouterProvider router={createAppRouter()} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
