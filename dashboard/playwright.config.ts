// End to end: Debian's chromium against a real server (e2e/server.ts starts it).
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  timeout: 90_000,
  expect: { timeout: 20_000 },
  // One after the other: pages are measured, and two browsers at once would measure each other.
  workers: 1,
  reporter: [["list"]],
  outputDir: process.env.MARGIN_E2E_OUTPUT ?? "test-results",
  use: {
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env.MARGIN_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    },
    viewport: { width: 1280, height: 900 },
  },
});
