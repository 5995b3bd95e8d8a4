// Server-sent events out of a stream of bytes, whatever the pieces they come in.
export interface ServerEvent {
  type: string;
  data: string;
}

export class EventReader {
  private rest = "";
  private type = "";
  private data: string[] = [];
  private decoder = new TextDecoder();

  constructor(private readonly emit: (event: ServerEvent) => void) {}

  push(bytes: Uint8Array): void {
    const text = this.rest + this.decoder.decode(bytes, { stream: true });
    const lines = text.split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.take(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  private take(line: string): void {
    if (line === "") {
      if (this.data.length > 0) this.emit({ type: this.type || "message", data: this.data.join("\n") });
      this.type = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.type = value;
    else if (field === "data") this.data.push(value);
  }
}
