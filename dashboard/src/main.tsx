// The dashboard's beginning.
import { createRoot } from "react-dom/client";
import "uplot/dist/uPlot.min.css";
import { App } from "./app";
import "./styles.css";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App />);
