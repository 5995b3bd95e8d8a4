// Whether the reader prefers dark pages.
import { useSyncExternalStore } from "react";

const query = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

export function useDark(): boolean {
  return useSyncExternalStore(
    (changed) => {
      query?.addEventListener("change", changed);
      return () => query?.removeEventListener("change", changed);
    },
    () => query?.matches ?? false,
  );
}
