import { useEffect } from "react";

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Muster`;
    return () => {
      document.title = "Muster";
    };
  }, [title]);
}
