import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ToastProvider } from "./kit/toast.tsx";
import { createQueryClient } from "./shell/query-client.ts";
import { createAppRouter } from "./shell/router.tsx";
import "./theme.css";

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
