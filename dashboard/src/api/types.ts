// The server's answers, named for the pages. schema.ts is made from src/server/openapi.json (`npm run types`).
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Session = Schemas["Session"];
export type Pool = Schemas["Pool"];
export type Factor = Schemas["Factor"];
export type HeatRow = Schemas["HeatRow"];
export type Alarm = Schemas["Alarm"];
export type Scores = Schemas["Scores"];
export type Stage = Schemas["Stage"];
export type DecisionSummary = Schemas["DecisionSummary"];
// The document says that a record is a decision and more.
export type DecisionRecord = Schemas["Decision"] & Required<Pick<Schemas["DecisionRecord"], "pool" | "offset" | "time" | "task_id">> & Schemas["DecisionRecord"];
export type Receipt = Schemas["Receipt"];
export type Status = Schemas["Status"];
export type ModelRow = Schemas["ModelRow"];
export type PairRow = Schemas["PairRow"];
export type FactorHistory = Schemas["FactorHistory"];
export type Activity = Schemas["Activity"];
export type Experiment = Schemas["Experiment"];
