// margin.Calibrator.
#include <pybind11/stl.h>

#include "named_calibrator.h"
#include "parameters.h"

namespace margin::python {
namespace {

using Models = std::vector<std::string>;

// What River calls x: {"model": ..., "confidence": ...}, the model left out where there is only one.
std::pair<std::string, double> response_of(const py::dict& x) {
  if (!x.contains("confidence")) raise({ErrorCode::kInvalidArgument, "x: expected the key confidence"});
  const py::object confidence = x["confidence"];
  const double stated = PyFloat_AsDouble(confidence.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise_wrong_type("confidence: got " + type_name(confidence) + ", expected a number");
  }
  return {x.contains("model") ? std::string(text_of("model", x["model"])) : "model", stated};
}

std::string text_of_parameters(const NamedCalibrator& self) {
  std::string text;
  for (const auto& [name, value] : self.core().parameters()) text += ", " + name + "=" + to_text(value);
  return text;
}

std::unique_ptr<NamedCalibrator> restored(const py::bytes& snapshot, Models models) {
  return std::make_unique<NamedCalibrator>(value_of(restore_calibrator(std::string(snapshot))), std::move(models));
}

py::bytes snapshot_of(const NamedCalibrator& self) {
  const Lock lock(self.mutex());
  return self.core().snapshot();
}

// The learning form of a batch.
template <class Call>
auto locked(NamedCalibrator& self, const Call& call) {
  const Lock lock(self.mutex());
  return call();
}

std::vector<py::dict> method_list() {
  std::vector<py::dict> methods;
  for (const CalibratorInfo* info : calibrator_catalog()) {
    py::dict one;
    one["identifier"] = info->identifier;
    one["version"] = info->version;
    one["design_time"] = info->design_time;
    one["summary"] = info->summary;
    one["parameters"] = to_dict(info->parameters);
    methods.push_back(one);
  }
  return methods;
}

void bind_explanation(py::module_& module) {
  py::class_<Explanation>(module, "Explanation", "Why a confidence became what it became.")
      .def_readonly("confidence", &Explanation::confidence, "As stated.")
      .def_readonly("calibrated", &Explanation::calibrated, "The probability that the response is right.")
      .def_readonly("factor", &Explanation::factor, "calibrated / confidence before clipping, where the method multiplies.")
      .def_readonly("band", &Explanation::band, "The band of the confidence, from 0.")
      .def_readonly("bands", &Explanation::bands, "How many bands there are.")
      .def_readonly("observations", &Explanation::observations, "The weighted count behind this model and band.")
      .def_property_readonly(
          "terms",
          [](const Explanation& self) {
            py::dict terms;
            for (const Term& term : self.terms) terms[py::str(term.name)] = term.value;
            return terms;
          },
          "What the factor is made of, by name, in the order of the formula.")
      .def("__repr__", [](const Explanation& self) {
        return "Explanation(confidence=" + shown(self.confidence) + ", calibrated=" + shown(self.calibrated) +
               ", factor=" + shown(self.factor) + ", band=" + std::to_string(self.band) + " of " + std::to_string(self.bands) +
               ", observations=" + shown(self.observations) + ")";
      });
}

void bind_lifecycle(py::class_<NamedCalibrator>& type) {
  type.def(
          "join",
          [](NamedCalibrator& self, const std::string& model, const std::optional<std::string>& predecessor) {
            return locked(self, [&] { return self.join(model, predecessor); });
          },
          py::arg("model"), py::arg("predecessor") = py::none(),
          "A model joins, or comes back with the state it left with; its id, which batches take instead of names, is returned.\n\n"
          "A model that is not joined joins with its first response. `predecessor` is the version it replaces, whose factors it enters "
          "with.")
      .def(
          "leave", [](NamedCalibrator& self, const std::string& model) { locked(self, [&] { self.leave(model); }); }, py::arg("model"),
          "The model's state is kept and takes no part in averages until it joins again.")
      .def(
          "begin_task", [](NamedCalibrator& self) { locked(self, [&] { self.begin_task(); }); },
          "Opens the bracket around the observations of one task; methods that count in tasks need it, the others ignore it.")
      .def(
          "end_task", [](NamedCalibrator& self) { locked(self, [&] { self.end_task(); }); }, "Closes the bracket of begin_task().")
      .def_property_readonly(
          "models", [](const NamedCalibrator& self) { return self.names(); }, "Every model that ever joined, by id.")
      .def_property_readonly(
          "present",
          [](const NamedCalibrator& self) {
            const Lock lock(self.mutex());
            Models names;
            for (const std::string& name : self.names()) {
              if (self.present(name)) names.push_back(name);
            }
            return names;
          },
          "The models that have joined and not left.");
}

void bind_single(py::class_<NamedCalibrator>& type) {
  type.def(
          "calibrate",
          [](NamedCalibrator& self, const std::string& model, double confidence) {
            return locked(self, [&] { return self.calibrate(model, confidence); });
          },
          py::arg("model"), py::arg("confidence"),
          "The probability that a response is right, given the confidence its model stated.\n\n"
          ">>> import margin\n"
          ">>> calibrator = margin.Calibrator(\"margin\")\n"
          ">>> calibrator.calibrate(\"gpt\", 0.9)\n"
          "0.9\n"
          ">>> calibrator.observe(\"gpt\", 0.9, 0)\n"
          ">>> calibrator.calibrate(\"gpt\", 0.9) < 0.9\n"
          "True\n")
      .def(
          "observe",
          [](NamedCalibrator& self, const std::string& model, double confidence, double outcome, double weight) {
            locked(self, [&] { self.observe(model, {.confidence = confidence, .outcome = outcome, .weight = weight}); });
          },
          py::arg("model"), py::arg("confidence"), py::arg("outcome"), py::arg("weight") = 1.0,
          "Learns one outcome: 1 right, 0 wrong, fractions for graded tasks.")
      .def(
          "explain",
          [](const NamedCalibrator& self, const std::string& model, double confidence) {
            const Lock lock(self.mutex());
            return self.explain(model, confidence);
          },
          py::arg("model"), py::arg("confidence"),
          "Why calibrate() says what it says.\n\n"
          ">>> import margin\n"
          ">>> calibrator = margin.Calibrator(\"margin\", bands=3)\n"
          ">>> calibrator.observe(\"gpt\", 0.9, 1)\n"
          ">>> calibrator.explain(\"gpt\", 0.95).band\n"
          "2\n")
      .def(
          "learn_one",
          [](NamedCalibrator& self, const py::dict& x, double y) {
            const auto response = response_of(x);
            locked(self, [&] { self.observe(response.first, {.confidence = response.second, .outcome = y}); });
          },
          py::arg("x"), py::arg("y"),
          "observe() as River has it: x is {\"model\": name, \"confidence\": number}, y whether it was right.\n\n"
          ">>> import margin\n"
          ">>> calibrator = margin.Calibrator(\"online_platt\")\n"
          ">>> calibrator.learn_one({\"model\": \"gpt\", \"confidence\": 0.9}, False)\n"
          ">>> calibrator.predict_one({\"model\": \"gpt\", \"confidence\": 0.9})\n"
          "True\n")
      .def(
          "predict_one",
          [](NamedCalibrator& self, const py::dict& x) {
            const auto response = response_of(x);
            return locked(self, [&] { return self.calibrate(response.first, response.second) >= 0.5; });
          },
          py::arg("x"), "Whether the response is more likely right than not.")
      .def(
          "predict_proba_one",
          [](NamedCalibrator& self, const py::dict& x) {
            const auto response = response_of(x);
            const double p = locked(self, [&] { return self.calibrate(response.first, response.second); });
            return std::map<bool, double>{{false, 1.0 - p}, {true, p}};
          },
          py::arg("x"), "calibrate() as River has it: {False: 1 - p, True: p}.");
}

void bind_batches(py::class_<NamedCalibrator>& type) {
  type.def(
          "calibrate_batch",
          [](NamedCalibrator& self, py::object models, py::object confidences) {
            return locked(self, [&] { return self.calibrate_batch({models, confidences, {}, {}, {}}); });
          },
          py::arg("models"), py::arg("confidences"),
          "calibrate() of every row. `models` is a column of names, or of ids as join() gives them, or one name for all rows.\n\n"
          ">>> import margin, numpy\n"
          ">>> margin.Calibrator(\"raw\").calibrate_batch([\"a\", \"b\"], numpy.array([0.5, 0.75]))\n"
          "array([0.5 , 0.75])\n")
      .def(
          "observe_batch",
          [](NamedCalibrator& self, py::object models, py::object confidences, py::object outcomes, py::object weights, py::object tasks) {
            locked(self, [&] { self.observe_batch({models, confidences, outcomes, weights, tasks}); });
          },
          py::arg("models"), py::arg("confidences"), py::arg("outcomes"), py::arg("weights") = py::none(), py::arg("tasks") = py::none(),
          "observe() of every row, in order. Rows that follow each other with the same task are one task's. All rows are checked first:\n"
          "when one is refused, nothing was learned.")
      .def(
          "prequential_batch",
          [](NamedCalibrator& self, py::object models, py::object confidences, py::object outcomes, py::object weights, py::object tasks) {
            return locked(self, [&] { return self.prequential_batch({models, confidences, outcomes, weights, tasks}); });
          },
          py::arg("models"), py::arg("confidences"), py::arg("outcomes"), py::arg("weights") = py::none(), py::arg("tasks") = py::none(),
          "Row by row, first calibrate, then observe: what would have been predicted before each outcome was known. With tasks, all rows\n"
          "of a task are calibrated before any of them is learned.\n\n"
          ">>> import margin\n"
          ">>> calibrator = margin.Calibrator(\"windowed_accuracy_replace\")\n"
          ">>> calibrator.prequential_batch(\"gpt\", [0.9, 0.9, 0.9], [0, 1, 1])\n"
          "array([0.9, 0. , 0.5])\n")
      .def(
          "fit",
          [](NamedCalibrator& self, py::object models, py::object confidences, py::object outcomes, py::object weights) {
            locked(self, [&] { self.fit({models, confidences, outcomes, weights, {}}); });
          },
          py::arg("models"), py::arg("confidences"), py::arg("outcomes"), py::arg("weights") = py::none(),
          "Fits a design-time method (temperature_scaling, platt_scaling, histogram_binning) and freezes it.");
}

void bind_state(py::class_<NamedCalibrator>& type) {
  const auto copy = [](const NamedCalibrator& self) {
    const Lock lock(self.mutex());
    return self.copy();
  };
  type.def_property_readonly(
          "method", [](const NamedCalibrator& self) { return self.core().info().identifier; }, "The identifier of the method.")
      .def_property_readonly(
          "version", [](const NamedCalibrator& self) { return self.core().info().version; }, "The version of the method.")
      .def_property_readonly(
          "design_time", [](const NamedCalibrator& self) { return self.core().info().design_time; },
          "Whether the method is fitted once, by fit(), and frozen; observe() then teaches it nothing.")
      .def_property_readonly(
          "parameters", [](const NamedCalibrator& self) { return to_dict(self.core().parameters()); }, "Every parameter with its value.")
      .def_property_readonly(
          "bands", [](const NamedCalibrator& self) { return self.core().bands(); },
          "How many bands the method cuts confidences into; 1 when it does not cut.")
      .def_property_readonly(
          "digest",
          [](const NamedCalibrator& self) {
            const Lock lock(self.mutex());
            return self.core().digest().hex();
          },
          "The fingerprint of the state: equal states have equal digests, on every machine.")
      .def("snapshot", &snapshot_of, "The state as bytes, bit for bit; restore() takes them back, with the names of `models`.")
      .def_static("restore", &restored, py::arg("snapshot"), py::arg("models"),
                  "A calibrator from the bytes of snapshot() and the names of its models, by id.")
      .def("copy", copy, "An independent copy.")
      .def("__copy__", copy)
      .def(
          "__deepcopy__", [copy](const NamedCalibrator& self, const py::dict&) { return copy(self); }, py::arg("memo"))
      .def(py::pickle([](const NamedCalibrator& self) { return py::make_tuple(snapshot_of(self), self.names()); },
                      [](const py::tuple& state) {
                        if (state.size() != 2) raise({ErrorCode::kCorrupt, "calibrator: not a pickled state"});
                        return restored(state[0].cast<py::bytes>(), state[1].cast<Models>());
                      }))
      .def("__repr__", [](const NamedCalibrator& self) {
        return "Calibrator('" + self.core().info().identifier + "'" + text_of_parameters(self) + ") of " +
               std::to_string(self.names().size()) + " models";
      });
}

}  // namespace

void bind_calibrator(py::module_& module) {
  bind_explanation(module);
  py::class_<NamedCalibrator> type(
      module, "Calibrator",
      "Learns, per model and confidence band, what a stated confidence is worth, and turns it into a probability.\n\n"
      ">>> import margin\n"
      ">>> calibrator = margin.Calibrator(\"margin\", alpha=0.05)\n"
      ">>> calibrator.parameters[\"alpha\"]\n"
      "0.05\n\n"
      "`method` is one of margin.methods(), perhaps with a version as in \"margin_adaptive@1\"; its parameters follow by name. Threads "
      "may\n"
      "share a calibrator: calls on one wait for each other, and batches of different ones run at the same time.");
  type.def(py::init([](const std::string& method, const py::kwargs& parameters) {
             return std::make_unique<NamedCalibrator>(value_of(make_calibrator(method, to_parameters(method, parameters))));
           }),
           py::arg("method") = "margin");
  bind_single(type);
  bind_batches(type);
  bind_lifecycle(type);
  bind_state(type);
  module.def("methods", &method_list,
             "Every calibration method: identifier, version, summary, whether it is fitted once, and its parameters with their ranges.\n\n"
             ">>> import margin\n"
             ">>> [method[\"identifier\"] for method in margin.methods()][:2]\n"
             "['raw', 'temperature_scaling']\n");
}

}  // namespace margin::python
