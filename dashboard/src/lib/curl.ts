// A request as a command for a shell. The key is named, never shown.
function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}

export interface Shown {
  url: string;
  method?: "GET" | "POST";
  body?: unknown;
  keyed: boolean; // the server wants a key
}

export function curlOf({ url, method = "GET", body, keyed }: Shown): string {
  const parts = ["curl -s", quoted(url)];
  if (method !== "GET" && body === undefined) parts.push(`-X ${method}`);
  if (keyed) parts.push('-H "Authorization: Bearer $MARGIN_KEY"');
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(" ");
}
