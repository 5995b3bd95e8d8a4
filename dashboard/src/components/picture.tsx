// Picture: a diagram in its frame, with its data as a table behind it and both to take away (SVG, CSV).
import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { csvOf, type Cell } from "../lib/csv";
import { download, fileName, standaloneSvg } from "../lib/download";
import { visible } from "../lib/format";
import { DataTable } from "./data_table";

export interface PictureData {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

interface Props {
  title: string;
  name: string; // of downloaded files
  note?: ReactNode;
  controls?: ReactNode;
  data: PictureData;
  svg?: () => string; // for what is not drawn as SVG
  empty?: string; // said instead of a picture without data
  children: ReactNode;
}

export function Picture({ title, name, note, controls, data, svg, empty, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [asTable, setAsTable] = useState(false);
  const isEmpty = empty !== undefined && data.rows.length === 0;

  const saveSvg = () => {
    const drawn = frame.current?.querySelector("svg");
    const text = svg !== undefined ? svg() : drawn ? standaloneSvg(drawn) : "";
    if (text !== "") download(fileName(name, "svg"), "image/svg+xml", text);
  };
  return (
    <figure className="picture">
      <figcaption>
        <h2>{title}</h2>
        <div className="tools">
          {controls}
          <span className="tool-group">
            <button type="button" className="quiet" aria-pressed={asTable} onClick={() => setAsTable((now) => !now)} disabled={isEmpty}>
              Table
            </button>
            <button type="button" className="quiet" onClick={saveSvg} disabled={isEmpty || asTable} aria-label={`Download ${title} as SVG`}>
              SVG
            </button>
            <button
              type="button"
              className="quiet"
              onClick={() => download(fileName(name, "csv"), "text/csv", csvOf(data.columns, data.rows))}
              disabled={isEmpty}
              aria-label={`Download ${title} as CSV`}
            >
              CSV
            </button>
          </span>
        </div>
      </figcaption>
      {isEmpty ? (
        <p className="state">{empty}</p>
      ) : asTable ? (
        <DataTable
          caption={title}
          columns={data.columns.map((column, i) => ({
            name: column,
            value: (row: readonly Cell[]) => row[i] ?? null,
            show: (row: readonly Cell[]) => shownCell(row[i]),
            number: data.rows.some((row) => typeof row[i] === "number"),
          }))}
          rows={data.rows}
          keyOf={(_, index) => String(index)}
        />
      ) : (
        <div ref={frame} className="frame">
          {children}
        </div>
      )}
      {note !== undefined && <p className="picture-note">{note}</p>}
    </figure>
  );
}

function shownCell(cell: Cell): string {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : cell.toFixed(4);
  return visible(String(cell));
}

// The width that a picture has, so that its letters keep their size on any screen.
export function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const attach = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    setWidth(Math.round(element.getBoundingClientRect().width));
    observer.current = new ResizeObserver((entries) => {
      const box = entries[0]?.contentRect;
      if (box) setWidth(Math.round(box.width));
    });
    observer.current.observe(element);
  }, []);
  useEffect(() => () => observer.current?.disconnect(), []);
  return [attach, width];
}
