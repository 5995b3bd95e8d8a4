"""The dashboard's files as a browser gets them: whole, compressed where accepted, cached by what is in them, and with a policy that keeps
everything foreign out."""
import gzip
import re

from harness import ServerTest, main


class Files(ServerTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.page = self.server.get("/dashboard/")
        self.assets = re.findall(r'\./(assets/[^"]+)', self.page.body.decode())

    def test_the_root_leads_to_the_dashboard(self):
        for path in ("/", "/dashboard"):
            answer = self.server.get(path)
            self.assertEqual((answer.status, answer.headers["Location"]), (302, "dashboard/"))
        self.assertEqual(self.page.status, 200)
        self.assertIn(b"MARGIN", self.page.body)

    def test_nothing_inline_and_nothing_foreign_is_allowed(self):
        policy = self.page.headers["Content-Security-Policy"]
        self.assertTrue(policy.startswith("default-src 'none';"))
        self.assertNotIn("unsafe", policy)
        self.assertNotIn("*", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertEqual(self.page.headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(self.page.headers["Referrer-Policy"], "no-referrer")
        self.assertFalse(re.search(rb"<style|<script>|style=|https?://", self.page.body))

    def test_compressed_where_accepted_and_the_same(self):
        for path in ["", *self.assets]:
            plain = self.server.get("/dashboard/" + path)
            self.assertIsNone(plain.headers["Content-Encoding"])
            self.assertEqual(self.server.get("/dashboard/" + path, headers={"Accept-Encoding": "gzip;q=0, br"}).body, plain.body)
            packed = self.server.get("/dashboard/" + path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
            if packed.headers["Content-Encoding"]:
                self.assertEqual(gzip.decompress(packed.body), plain.body)
                self.assertLess(len(packed.body), len(plain.body))

    def test_what_the_browser_has_is_not_sent_again(self):
        for path in ["", *self.assets]:
            tag = self.server.get("/dashboard/" + path).headers["ETag"]
            again = self.server.get("/dashboard/" + path, headers={"If-None-Match": f'"other", W/{tag}'})
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(self.server.get("/dashboard/" + path, headers={"If-None-Match": '"other"'}).status, 200)

    def test_no_other_file_is_reached(self):
        for path in ("assets/../index.html", "assets/%2e%2e%2findex.html", "assets/none.js", "index.html", "assets/", "../status"):
            self.assertEqual(self.server.get("/dashboard/" + path).status, 404, path)

    def test_the_session_names_the_key_and_its_scopes(self):
        here = self.server.get("/v1/session").json
        self.assertEqual((here["keyless"], here["name"], "admin" in here["scopes"]), (True, "local", True))
        self.assertEqual(self.server.get("/v1/session", headers={"Origin": "http://elsewhere.example"}).status, 403)


if __name__ == "__main__":
    main()
