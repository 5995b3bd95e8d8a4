// DataTable: rows that can be sorted by any column and filtered by text. Used by every list and as the text alternative of pictures.
import { useMemo, useState, type ReactNode } from "react";
import type { Cell } from "../lib/csv";

export interface Column<Row> {
  name: string; // as the head shows it
  title?: string; // what it means
  value: (row: Row) => Cell; // sorted and filtered by
  show?: (row: Row) => ReactNode; // the value itself when absent
  number?: boolean; // right-aligned, largest first when sorted
}

interface Props<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, index: number) => string;
  filter?: string; // label of the field; absent: no field
  sortedBy?: string; // column name; "-name" for largest first; absent: as given
  rowsMax?: number;
  onRow?: (row: Row) => void;
  hiddenCaption?: boolean;
}

type Order = { column: string; down: boolean } | null;

function compare(a: Cell, b: Cell): number {
  const missing = (x: Cell) => x === null || x === undefined || (typeof x === "number" && Number.isNaN(x));
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

export function sortRows<Row>(rows: readonly Row[], value: (row: Row) => Cell, down: boolean): Row[] {
  const missing = (row: Row) => value(row) === null || value(row) === undefined;
  // What has no value stays at the end either way.
  return [...rows].sort((a, b) => {
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return down ? compare(value(b), value(a)) : compare(value(a), value(b));
  });
}

function firstOrder(sortedBy: string | undefined): Order {
  if (sortedBy === undefined) return null;
  return sortedBy.startsWith("-") ? { column: sortedBy.slice(1), down: true } : { column: sortedBy, down: false };
}

export function DataTable<Row>({ caption, columns, rows, keyOf, filter, sortedBy, rowsMax = 200, onRow, hiddenCaption = true }: Props<Row>) {
  const [order, setOrder] = useState<Order>(() => firstOrder(sortedBy));
  const [wanted, setWanted] = useState("");
  const [all, setAll] = useState(false);

  const shown = useMemo(() => {
    const needle = wanted.trim().toLowerCase();
    const kept = needle === "" ? rows : rows.filter((row) => columns.some((c) => String(c.value(row) ?? "").toLowerCase().includes(needle)));
    const column = order && columns.find((c) => c.name === order.column);
    return column && order ? sortRows(kept, column.value, order.down) : kept;
  }, [rows, columns, wanted, order]);

  const sort = (column: Column<Row>) =>
    setOrder((now) => (now?.column === column.name ? { ...now, down: !now.down } : { column: column.name, down: column.number === true }));
  const visible = all ? shown : shown.slice(0, rowsMax);

  return (
    <div className="table-block">
      {filter !== undefined && (
        <label className="filter">
          <span>{filter}</span>
          <input type="search" value={wanted} onChange={(e) => setWanted(e.target.value)} />
        </label>
      )}
      <div className="table-scroll" role="region" aria-label={`${caption}, table`} tabIndex={0}>
        <table>
          <caption className={hiddenCaption ? "visually-hidden" : undefined}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => {
                const sorted = order?.column === column.name ? (order.down ? "descending" : "ascending") : "none";
                return (
                  <th key={column.name} scope="col" aria-sort={sorted} className={column.number ? "number" : undefined}>
                    <button type="button" className="sort" title={column.title} onClick={() => sort(column)}>
                      {column.name}
                      <span aria-hidden="true" className="arrow">
                        {sorted === "descending" ? "▼" : sorted === "ascending" ? "▲" : ""}
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {visible.map((row, index) => (
              <tr key={keyOf(row, index)} className={onRow ? "clickable" : undefined} onClick={onRow && (() => onRow(row))}>
                {columns.map((column) => (
                  <td key={column.name} className={column.number ? "number" : undefined}>
                    {column.show ? column.show(row) : (column.value(row) ?? "–")}
                  </td>
                ))}
              </tr>
            ))}
            {visible.length === 0 && (
              <tr>
                <td colSpan={columns.length} className="nothing">
                  {rows.length === 0 ? "Nothing yet." : "Nothing matches the filter."}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {shown.length > visible.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          Show all {shown.length} rows
        </button>
      )}
    </div>
  );
}
