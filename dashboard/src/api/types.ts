// The server's answers, named for the pages. schema.ts is made from src/server/openapi.json (`npm run types`).
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Session = Schemas["Session"];
export type Pool = Schemas["Pool"];
export type Factor = Schemas["Factor"];
export type Alarm = Schemas["Alarm"];
export type Scores = Schemas["Scores"];
export type Stage = Schemas["Stage"];
export type DecisionSummary = Schemas["DecisionSummary"];
export type DecisionRecord = Schemas["DecisionRecord"];
export type Receipt = Schemas["Receipt"];
export type Status = Schemas["Status"];
export type ModelRow = Schemas["ModelRow"];
export type PairRow = Schemas["PairRow"];
export type FactorHistory = Schemas["FactorHistory"];
export type Activity = Schemas["Activity"];
