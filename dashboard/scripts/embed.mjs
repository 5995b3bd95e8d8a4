// Turns the built dashboard into a C++ file: node embed.mjs FOLDER OUT.cc. Used by cmake/MarginDashboard.cmake.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const kLine = 120;

const [folder, out] = process.argv.slice(2);

function filesOf(path) {
  return readdirSync(path)
    .sort()
    .flatMap((name) => {
      const inside = join(path, name);
      return statSync(inside).isDirectory() ? filesOf(inside) : [inside];
    });
}

// Bytes as a string literal. Octal escapes have three digits, so that a digit behind one is not read as part of it.
function literal(bytes) {
  const lines = [];
  let line = "";
  for (const byte of bytes) {
    const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
    line += plain ? String.fromCharCode(byte) : "\\" + byte.toString(8).padStart(3, "0");
    if (line.length >= kLine) {
      lines.push(`"${line}"`);
      line = "";
    }
  }
  lines.push(`"${line}"`);
  return `std::string_view(\n${lines.join("\n")}, ${bytes.length})`;
}

const entries = filesOf(folder).map((file) => {
  const bytes = readFileSync(file);
  const type = kTypes[extname(file)];
  if (type === undefined) throw new Error(`${file}: no content type is known for it`);
  const gzip = gzipSync(bytes, { level: 9 });
  const worth = gzip.length < 0.9 * bytes.length;
  const etag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const name = relative(folder, file).split("\\").join("/");
  return `DashboardFile{"${name}", "${type}", "\\"${etag}\\"",\n${literal(bytes)},\n${worth ? literal(gzip) : '""'}},\n`;
});
writeFileSync(
  out,
  `// Made by dashboard/scripts/embed.mjs.
#include "server/dashboard_files.h"

namespace margin::server {

std::span<const DashboardFile> dashboard_files() {
  static constexpr DashboardFile kFiles[] = {
${entries.join("")}};
  return kFiles;
}

}  // namespace margin::server
`,
);
