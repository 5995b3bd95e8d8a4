// A real `margin serve` for the browser: on a free port, with a store of its own, and a page that reports everything that goes wrong in it.
import { test as base, expect, type Page } from "@playwright/test";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = process.env.MARGIN_BINARY ?? "../build/release/bin/margin";

export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), "margin-e2e-"));
  url = "";
  private process: ChildProcess | null = null;

  async start(...flags: string[]): Promise<this> {
    // A second start keeps the address, so that a page finds its server again.
    const listen = this.url === "" ? "127.0.0.1:0" : new URL(this.url).host;
    const started = spawn(binary, ["serve", "--listen", listen, "--store", "margin.db", ...flags], { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.process = started;
    let said = "";
    started.stderr?.on("data", (bytes: Buffer) => (said += bytes.toString()));
    this.url = await new Promise<string>((resolve, reject) => {
      let text = "";
      started.stdout?.on("data", (bytes: Buffer) => {
        text += bytes.toString();
        const url = /listens on (http\S+)/.exec(text)?.[1];
        if (url !== undefined) resolve(url);
      });
      started.on("exit", (code) => reject(new Error(`margin serve ended with ${code}: ${said}`)));
    });
    return this;
  }

  async stop(): Promise<void> {
    const running = this.process;
    this.process = null;
    if (running === null || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGKILL");
    await ended;
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  key(name: string, scope: string): string {
    const said = execFileSync(binary, ["keys", "create", "--store", "margin.db", "--name", name, "--scope", scope], { cwd: this.folder }).toString();
    const key = /sk-mg-\S+/.exec(said)?.[0];
    if (key === undefined) throw new Error(`no key in: ${said}`);
    return key;
  }

  async ask<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
    const init = body === undefined ? {} : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(this.url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  page(path: string): string {
    return `${this.url}/dashboard/#/${path}`;
  }
}

interface Fixtures {
  server: Server; // nothing has happened in it
  watched: Page; // fails the test on errors of the page and on requests to anywhere else
}

export const test = base.extend<Fixtures, { demo: Server }>({
  demo: [
    async ({}, use) => {
      const server = await new Server().start("--demo");
      await use(server);
      await server.stop();
      server.dispose();
    },
    { scope: "worker" },
  ],
  server: async ({}, use) => {
    const server = await new Server().start();
    await use(server);
    await server.stop();
    server.dispose();
  },
  watched: async ({ page }, use) => {
    const wrong: string[] = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.hostname !== "127.0.0.1" && url.protocol !== "blob:" && url.protocol !== "data:") wrong.push(`asked ${request.url()}`);
      if (/sk-mg-/.test(request.url())) wrong.push(`a key in an address: ${request.url()}`);
    });
    await use(page);
    expect(wrong).toEqual([]);
  },
});

export { expect };
