package diagnose

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// A profile that cannot be used is none as long as a fallback can; each chain
// is told once. No server is asked whether it has the model, for its list, or for a reply (ADP-5).
func TestMissingModels(t *testing.T) {
	dead := "http://127.0.0.1:9/v1"
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the server of a model is asked %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer asked.Close()
	there := asked.URL + "/v1"
	for name, x := range map[string]struct {
		config string
		want   int
	}{
		"there":                 {profile("default", there, "m"), 0},
		"elsewhere":             {profile("default", "http://192.0.2.1/v1", "m"), 0},
		"dead":                  {profile("default", dead, "m"), 1},
		"dead, with a fallback": {profile("default", dead, "m, fallback: [b]") + profile("b", there, "m"), 0},
		"dead, with a dead one": {profile("default", dead, "m, fallback: [b]") +
			"  b: {adapter: anthropic, model: m}\n", 1},
		"of ollama":                 {"  default: {adapter: ollama, model: m, base_url: '" + asked.URL + "'}\n", 0},
		"of anthropic's wire":       {"  default: {adapter: anthropic, model: m, base_url: '" + asked.URL + "'}\n", 0},
		"no key of the service":     {"  default: {adapter: openai, model: m}\n", 1},
		"two profiles, one is dead": {profile("default", there, "m") + profile("strong", dead, "m"), 1},
		"no role uses the dead one": {profile("default", there, "m") + profile("other", dead, "m"), 0},
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, filepath.Join(dir, "company.yaml"), "version: 1\n")
		configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), "models:\n"+x.config)
		a := &Checker{Env: func(string) (string, bool) { return "", false }, Logger: slog.New(slog.DiscardHandler)}
		p, err := office.Find(office.FindOptions{Dir: dir, Office: dir, Env: os.LookupEnv})
		if err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(t.Context(),
			config.LoadOptions{OfficeDir: p.Root, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
		if err != nil {
			t.Fatal(err)
		}
		got := a.missingModels(t.Context(), p, l)
		if len(got) != x.want {
			t.Errorf("%s: %v", name, got)
		}
		for _, e := range got {
			if e.Hint == "" {
				t.Errorf("%s: no help in %v", name, e)
			}
		}
	}
}

// profile is a model of a config.
func profile(name, address, model string) string {
	return "  " + name + ": {adapter: openai, base_url: '" + address + "', model: " + model + "}\n"
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
