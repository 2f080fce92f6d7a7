package forgetest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// GitHub's description is a judge and no ornament: it refuses what GitHub
// would refuse, and replies that are not whole.
func TestContractRejectsUnknown(t *testing.T) {
	c, err := GitHubContract()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		method, path, body string
		code               int
		reply              any
		why                string // empty: it fits
	}{
		"a pull request without base": {"POST", "/repos/a/b/pulls", `{"title":"t","head":"h"}`, 404, nil,
			`property "base" is missing`},
		"a title that is a number": {"PATCH", "/repos/a/b/pulls/1", `{"title":1}`, 404, nil, "title"},
		"a state that is none":     {"PATCH", "/repos/a/b/pulls/1", `{"state":"merged"}`, 404, nil, "state"},
		"an event that is none":    {"POST", "/repos/a/b/pulls/1/reviews", `{"event":"LGTM"}`, 404, nil, "event"},
		"a method that is none": {"PUT", "/repos/a/b/pulls/1/merge", `{"merge_method":"octopus"}`, 404, nil,
			"merge_method"},
		"a path that is none": {"GET", "/repos/a/b/pullz", "", 404, nil, "not in the description"},
		"half a reply":        {"GET", "/repos/a/b/git/ref/heads/x/y", "", 200, jsonObject{"ref": "r"}, "node_id"},
		"a whole one": {"GET", "/repos/a/b/git/ref/heads/x/y", "", 200,
			jsonObject{"ref": "r", "node_id": "n", "url": "https://x",
				"object": jsonObject{"type": "commit", "sha": strings.Repeat("a", 40), "url": "https://x"}}, ""},
		"labels in an array": {"POST", "/repos/a/b/issues/1/labels", `["x"]`, 404, nil, ""},
	} {
		var said []string
		h := c.Handler("/api/v3", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if x.reply == nil {
				x.reply = jsonObject{"message": "Not Found"}
			}
			sendJSON(w, r, x.code, x.reply)
		}), func(err error) { said = append(said, err.Error()) })
		r := httptest.NewRequest(x.method, "/api/v3"+x.path, strings.NewReader(x.body))
		if x.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		all, _ := json.Marshal(said)
		if x.why == "" && len(said) > 0 || x.why != "" && !strings.Contains(strings.Join(said, "\n"), x.why) {
			t.Errorf("%s: %s", name, all)
		}
	}
}
