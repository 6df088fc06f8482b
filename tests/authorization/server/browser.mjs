// A user with a browser: `node browser.mjs CHROMIUM URL NAME` opens the page, logs in as NAME, consents, and prints
// what the page says that this leads to.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

const [program, url, name] = process.argv.slice(2);
const profile = await mkdtemp(join(tmpdir(), "browser-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: program,
  headless: true,
  args: [
    "--headless",
    // Containers forbid what the sandbox is made of; the pages are ours.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const page = await context.newPage();
  await page.goto(url);
  while ((await page.locator("form").count()) > 0) {
    const field = page.locator("input[name=login]");
    if ((await field.count()) > 0) {
      await field.fill(name);
    }
    await Promise.all([
      page.waitForNavigation(),
      page.getByRole("button", { name: "Continue" }).click(),
    ]);
  }
  console.log(await page.locator("body").innerText());
} finally {
  await context.close();
  // Processes that the browser leaves behind for a moment may still write there.
  await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}
