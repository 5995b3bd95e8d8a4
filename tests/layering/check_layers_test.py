"""check_layers.py must notice each kind of violation: small trees, each with exactly one."""

import tempfile
import unittest
from pathlib import Path

from check_layers import check

LAYERS = """
margin_layer(base PURE HEADERS result)  # margin_layer(comment)
margin_layer(metric PURE USES base)
margin_layer(pool PURE USES base)
margin_layer(server USES base pool LIBRARIES ssl)
"""
TREE = {
    "src/CMakeLists.txt": LAYERS,
    "include/margin/result.h": "#include <string>\n",
    "include/margin/math.h": '#include "margin/result.h"\ndouble exp(double x);\n',
    "include/margin/pool.h": '#include "margin/result.h"\n',
    "src/base/math.cc": '#include "margin/math.h"\n#include <cmath>\ndouble f(double x) { return std::sqrt(x) + x.log(1); }\n',
    "src/metric/brier.cc": '#include "margin/math.h"\n#include <cmath>\ndouble g(double x) { return std::log(x); }\n',
    "src/pool/pool.cc": '#include "margin/pool.h"\n#include "margin/math.h"\n// std::exp(1) in a comment\ndouble h() { return exp(1.0); }\n',
    "src/pool/pool_test.cc": "#include <chrono>\n",
    "src/server/server.cc": '#include <thread>\n#include "margin/pool.h"\n#include "base/clock.h"\n',
}


class CheckLayers(unittest.TestCase):
    def violations(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**TREE, **changes.get("files", {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check(root)

    def expect(self, path, text, message):
        found = self.violations(files={path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_a_clean_tree_has_none(self):
        self.assertEqual(self.violations(), [])

    def test_including_a_layer_that_is_not_used(self):
        self.expect("src/metric/ece.cc", '#include "pool/state.h"\n', "of pool, but metric may use only: base metric")

    def test_including_its_public_header_instead(self):
        self.expect("src/metric/ece.cc", '#include "margin/pool.h"\n', "of pool, but metric may use only")

    def test_a_public_header_that_reaches_up(self):
        self.expect("include/margin/math.h", '#include "margin/pool.h"\n', "of pool, but base may use only")

    def test_a_public_header_of_no_layer(self):
        self.expect("include/margin/lost.h", "", "belongs to no layer")

    def test_a_public_header_of_two_layers(self):
        self.expect("src/metric/math.cc", "", "belongs to base and metric")

    def test_a_folder_that_is_no_layer(self):
        self.expect("src/stray/x.cc", "", "is no layer")

    def test_a_clock_in_a_pure_layer(self):
        self.expect("src/pool/x.h", "#include <chrono>\n", "includes <chrono>, but pool is pure")

    def test_system_headers_in_a_pure_layer(self):
        self.expect("src/base/x.cc", "#include <sys/time.h>\n", "includes <sys/time.h>")

    def test_the_c_librarys_exp(self):
        self.expect("src/pool/x.cc", "double f() { return std::exp(1.0); }\n", "calls std::exp")

    def test_the_c_librarys_exp_by_global_name(self):
        self.expect("src/pool/x.cc", '#include "margin/math.h"\ndouble f() { return ::log(2.0); }\n', "calls ::log")

    def test_an_exp_that_is_ours_only_with_our_header(self):
        self.expect("src/pool/x.cc", "double f() { return exp(1.0); }\n", "calls exp, which is the C library's")

    def test_pow_which_we_do_not_have(self):
        self.expect("src/pool/x.cc", '#include "margin/math.h"\ndouble f() { return pow(2, 0.5); }\n', "calls pow")

    def test_a_layer_that_uses_an_unknown_one(self):
        self.expect("src/CMakeLists.txt", LAYERS.replace("pool PURE USES base", "pool PURE USES base nothing"), "which is no layer")

    def test_a_pure_layer_on_an_impure_one(self):
        self.expect("src/CMakeLists.txt", LAYERS.replace("margin_layer(metric PURE", "margin_layer(metric").replace("pool PURE USES base", "pool PURE USES base metric"),
                    "pool is pure and USES metric")

    def test_a_circle(self):
        self.expect("src/CMakeLists.txt", LAYERS.replace("metric PURE USES base", "metric PURE USES base pool"), "does not come before it")


if __name__ == "__main__":
    unittest.main()
