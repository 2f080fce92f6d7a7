package diagnose

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/config"
	"company/internal/config/configtest"
	"company/internal/office"
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
	for name, x := range map[string]struct {
		config string
		want   int
	}{
		"none":                       {"models: {default: {adapter: openai, model: m, base_url: 'http://model.invalid/v1'}}\n", 0},
		"dead":                       {"models: {default: {adapter: openai, model: m, base_url: '" + dead + "'}}\n", 1},
		"dead, with a fallback":      {"models: {default: {adapter: openai, model: m, base_url: '" + dead + "', fallback: [b]}, b: {adapter: openai, model: m, base_url: 'http://model.invalid/v1'}}\n", 0},
		"dead, with a dead one":      {"models: {default: {adapter: openai, model: m, base_url: '" + dead + "', fallback: [b]}, b: {adapter: anthropic, model: m}}\n", 1},
		"there, and slow":            {"models: {default: {adapter: openai, model: m, base_url: '" + slow.URL + "/v1'}}\n", 0},
		"a model that is not listed": {"models: {default: {adapter: ollama, model: m, base_url: '" + empty.URL + "'}}\n", 0},
		"no key of the service":      {"models: {default: {adapter: openai, model: m}}\n", 1},
		"two profiles, one is dead":  {"models: {default: {adapter: openai, model: m, base_url: 'http://model.invalid/v1'}, strong: {adapter: openai, model: m, base_url: '" + dead + "'}}\n", 1},
		"nobody uses the dead one":   {"models: {default: {adapter: openai, model: m, base_url: 'http://model.invalid/v1'}, other: {adapter: openai, model: m, base_url: '" + dead + "'}}\n", 0},
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, filepath.Join(dir, "company.yaml"), "version: 1\n")
		configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), x.config)
		a := &Checker{Env: func(string) (string, bool) { return "", false }, Logger: slog.New(slog.DiscardHandler)}
		p, err := office.Find(office.FindOptions{Dir: dir, Office: dir})
		if err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: p.Root, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
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
		if len(got) != x.want || (len(doubts) > 0) != (name == "a model that is not listed") {
			t.Errorf("%s: %v, %v", name, got, doubts)
		}
		for _, doubt := range doubts {
			if !strings.Contains(doubt, "it is asked all the same") || !strings.Contains(doubt, "ollama pull m") {
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

// Only what is on this machine by its very text is looked at before a start.
func TestIsLocal(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:11434": true, "http://localhost/v1": true, "http://[::1]:1": true, "http://[::ffff:127.0.0.1]:1": true,
		"http://127.0.0.1.example.com": false, "https://api.example.com": false, "http://10.0.0.1": false, "::": false, "": false,
	} {
		if got := isLocal(base); got != want {
			t.Errorf("%s: %v", base, got)
		}
	}
}
