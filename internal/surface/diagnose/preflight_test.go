package diagnose

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// A profile that cannot be used is none as long as a fallback can; each chain
// is told once.
func TestMissingModels(t *testing.T) {
	dead := "http://127.0.0.1:9/v1"
	stop := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer slow.Close()
	defer close(stop)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	there := serveModels(t, `{"data":[{"id":"m"}]}`, http.StatusOK, reply)
	noQuota := serveModels(t, `{"data":[{"id":"n"}]}`, http.StatusTooManyRequests,
		`{"error":{"code":"insufficient_quota","message":"no quota"}}`)
	for name, x := range map[string]struct {
		config string
		want   int
		doubts int
	}{
		"there":                 {profile("default", there, "m"), 0, 0},
		"dead":                  {profile("default", dead, "m"), 1, 0},
		"dead, with a fallback": {profile("default", dead, "m, fallback: [b]") + profile("b", there, "m"), 0, 0},
		"dead, with a dead one": {profile("default", dead, "m, fallback: [b]") +
			"  b: {adapter: anthropic, model: m}\n", 1, 0},
		"there, and slow": {profile("default", slow.URL+"/v1", "m"), 0, 0},
		"not listed, and not there": {profile(
			"default", serveModels(t, `{"data":[{"id":"n"}]}`, http.StatusNotFound, `{"error":"no"}`), "m"), 1, 0},
		"not listed, and there": {profile(
			"default", serveModels(t, `{"data":[{"id":"n"}]}`, http.StatusOK, reply), "m"), 0, 0},
		"not listed, and busy": {profile(
			"default", serveModels(t, `{"data":[{"id":"n"}]}`, http.StatusServiceUnavailable, "busy"), "m"), 0, 1},
		"not listed, and no quota": {profile("default", noQuota, "m"), 1, 0},
		"any name, and no list":    {profile("default", serveModels(t, "", http.StatusOK, reply), "m"), 0, 0},
		"no list, and busy": {profile("default", serveModels(t, "", http.StatusServiceUnavailable, "busy"), "m"),
			0, 0},
		"another server":               {profile("default", empty.URL+"/v1", "m"), 1, 0},
		"a page":                       {profile("default", serveModels(t, "<html>", http.StatusOK, "<html>"), "m"), 1, 0},
		"ollama has it not":            {"  default: {adapter: ollama, model: m, base_url: '" + empty.URL + "'}\n", 1, 0},
		"no key of the service":        {"  default: {adapter: openai, model: m}\n", 1, 0},
		"two profiles, one is dead":    {profile("default", there, "m") + profile("strong", dead, "m"), 1, 0},
		"no role uses the dead one":    {profile("default", there, "m") + profile("other", dead, "m"), 0, 0},
		"anthropic's wire has no list": {"  default: {adapter: anthropic, model: m, base_url: '" + empty.URL + "'}\n", 1, 0},
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, filepath.Join(dir, "company.yaml"), "version: 1\n")
		configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), "models:\n"+x.config)
		a := &Checker{Env: func(string) (string, bool) { return "", false }, Logger: slog.New(slog.DiscardHandler)}
		p, err := office.Find(office.FindOptions{Dir: dir, Office: dir})
		if err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(t.Context(),
			config.LoadOptions{OfficeDir: p.Root, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
		if err != nil {
			t.Fatal(err)
		}
		var got missingRequirements
		var doubts []string
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			got, doubts = a.missingModels(t.Context(), p, l)
		}()
		select {
		case <-looked:
		case <-time.After(time.Minute):
			t.Fatalf("%s: the look waits for who does not answer", name)
		}
		if len(got) != x.want || len(doubts) != x.doubts {
			t.Errorf("%s: %v, %v", name, got, doubts)
		}
		for _, doubt := range doubts {
			if !strings.Contains(doubt, "lists n and not this one") || !strings.Contains(doubt, "name one of the models") {
				t.Errorf("%s: no way out in %q", name, doubt)
			}
		}
		for _, e := range got {
			if e.Hint == "" {
				t.Errorf("%s: no help in %v", name, e)
			}
		}
	}
}

// reply is one whole reply over OpenAI's wire.
const reply = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// profile is a model of a config.
func profile(name, address, model string) string {
	return "  " + name + ": {adapter: openai, base_url: '" + address + "', model: " + model + "}\n"
}

// serveModels is a server of OpenAI's wire with a list of models, or none, and one answer
// to every request for a reply.
func serveModels(t *testing.T, list string, status int, answer string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/models":
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		case list == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = io.WriteString(w, list)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// A host that DNS does not know ends a submission before it begins. A server that cannot
// be reached now is tried again by the runs.
func TestJudgeProbe(t *testing.T) {
	for kind, want := range map[adapters.Kind][2]bool{
		adapters.UnknownHost: {true, false}, adapters.Quota: {true, false}, adapters.Auth: {true, false},
		adapters.Unreachable: {false, true}, adapters.Overloaded: {false, false}, adapters.TimedOut: {false, false},
	} {
		err := adapters.Explain(&adapters.Error{Kind: kind, Message: "the server's words"}, adapters.Info{Model: "m"})
		missing, doubt := judgeProbe("the model default", adapters.Probed{Said: "at h"}, err)
		if (missing != nil) != want[0] || (doubt != "") != want[1] {
			t.Errorf("%s: %v, %q", kind, missing, doubt)
		}
		if missing != nil && (missing.Hint == "" || !strings.Contains(missing.Error(), "the server's words")) {
			t.Errorf("%s: %v", kind, missing)
		}
	}
}

// Only what is on this machine by its very text is looked at before a start.
func TestIsLocal(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:11434": true, "http://localhost/v1": true, "http://[::1]:1": true,
		"http://[::ffff:127.0.0.1]:1":  true,
		"http://127.0.0.1.example.com": false, "https://api.example.com": false, "http://10.0.0.1": false,
		"::": false, "": false,
	} {
		if got := isLocal(base); got != want {
			t.Errorf("%s: %v", base, got)
		}
	}
}
