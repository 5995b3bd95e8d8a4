// How the dashboard is built and tested. Paths are relative, so that it also works behind a proxy that adds a prefix.
import { defineConfig } from "vitest/config";

// With `npm run dev`, requests go to a server that runs already: MARGIN_URL, or the usual address.
const target = process.env.MARGIN_URL ?? "http://127.0.0.1:8080";
// A server without keys takes requests of its own pages only; those of this one are passed on as such.
const proxied = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic" },
  build: { target: "es2020", modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  server: { proxy: { "/v1": proxied, "/status": proxied, "/health": proxied } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true, setupFiles: ["src/test_setup.ts"] },
});
