// Every page, light and dark and on a phone: it shows what it should, has nothing that axe finds wrong, and makes no error.
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Server } from "./server";

const kPages: { name: string; path: (server: Server) => Promise<string>; shows: RegExp | string }[] = [
  { name: "pools", path: async () => "pools", shows: "demo" },
  { name: "factors", path: async () => "pools/demo", shows: "How factors moved" },
  { name: "reliability", path: async () => "pools/demo/reliability", shows: /Reliability of simulated-/ },
  { name: "models", path: async () => "pools/demo/models", shows: "Votes won" },
  { name: "pairs", path: async () => "pools/demo/pairs", shows: "Same wrong answer" },
  { name: "alarms", path: async () => "pools/demo/alarms", shows: "simulated-fading" },
  { name: "decisions", path: async () => "decisions?pool=demo", shows: /simulated-\d+/ },
  { name: "queue", path: async () => "queue?pool=demo", shows: /simulated-\d+/ },
  {
    name: "decision",
    path: async (server) => `decisions/${(await server.ask<{ decisions: { decision_id: string }[] }>("/v1/decisions?pool=demo&graded=true&limit=1")).decisions[0]?.decision_id}`,
    shows: "What each model said and what it was worth",
  },
  { name: "experiments", path: async () => "experiments", shows: "Replay" },
  { name: "system", path: async () => "system", shows: "Pools and their logs" },
];

const kRules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

for (const { name, path, shows } of kPages) {
  test(`${name}: clean for axe in light and dark, and fits a phone`, async ({ demo, watched }) => {
    await watched.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await watched.goto(demo.page(await path(demo)));
    await expect(watched.getByRole("main").getByText(shows).first()).toBeVisible();
    await expect(watched.getByText("live", { exact: true })).toBeVisible();
    await expect(watched.getByText("Simulated.")).toBeVisible();
    // Rows of a table are alike: the first ones speak for the rest.
    const wrong = async (axe: AxeBuilder) => (await axe.exclude("tbody tr:nth-child(n + 9)").analyze()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
    expect(await wrong(new AxeBuilder({ page: watched }).withTags(kRules))).toEqual([]);
    // Only colours differ in the dark.
    await watched.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    expect(await wrong(new AxeBuilder({ page: watched }).withRules(["color-contrast", "link-in-text-block"]))).toEqual([]);
    // Nothing sticks out of a phone's screen sideways: tables and maps scroll in their own frames.
    await watched.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => watched.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
    expect(await wrong(new AxeBuilder({ page: watched }).withRules(["target-size", "scrollable-region-focusable"]))).toEqual([]);
  });
}

test("the log-in page is clean for axe in light and dark", async ({ server, page }) => {
  await server.stop();
  server.key("reader", "read");
  await server.start();
  await page.goto(server.page("pools"));
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect((await new AxeBuilder({ page }).withTags(kRules).analyze()).violations.map((v) => v.id)).toEqual([]);
  }
});
