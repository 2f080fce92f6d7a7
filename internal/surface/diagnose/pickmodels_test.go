package diagnose

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"company/internal/office/config"
)

// What init finds where nothing is configured: Ollama with the model that would
// be used, Ollama without one, a key, or nothing.
func TestPickModels(t *testing.T) {
	serve := func(tags string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/tags" {
				_, _ = io.WriteString(w, tags)
				return
			}
			_, _ = io.WriteString(w, `{"capabilities":["completion","tools"]}`)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	loaded, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	full, bare := serve(`{"models":[{"name":"qwen3:8b"}]}`), serve(`{"models":[]}`)
	for _, c := range []struct {
		env   map[string]string
		model string // of the profile that is written
		found string
	}{
		{map[string]string{"OLLAMA_HOST": full, "OPENAI_API_KEY": "k"}, "",
			"Found: Ollama at " + full + " with qwen3:8b (the default)"},
		{map[string]string{"OLLAMA_HOST": bare}, "", "it has no model: ollama pull llama3"},
		{map[string]string{"OLLAMA_HOST": "127.0.0.1:9", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"},
			"claude-sonnet-4-6", "ANTHROPIC_API_KEY"},
		{map[string]string{"OLLAMA_HOST": "127.0.0.1:9"}, "", "Found: none. Start Ollama"},
	} {
		d := &Checker{Env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
		models, found := d.pickModels(t.Context(), loaded)
		if models["default"].Model != c.model || !strings.Contains(found, c.found) {
			t.Errorf("%v: %v, %q", c.env, models, found)
		}
	}
}
