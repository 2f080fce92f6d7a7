package config

import (
	"regexp"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// The file says every key there is with its default: as it is written it sets
// nothing but the version, and with each # of a key removed it is the default.
func TestDraftIsTheDefault(t *testing.T) {
	text := string(
		ConfigDraft{All: true, About: []string{"found here: a: b", "two\nlines: 1"},
			Notes: map[string][]string{"gates": {"test: x\r\nworkers: {max: 64}", "\u2028workers: 1"}}}.Render())
	l := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, text)})
	for key, at := range l.Origin {
		if (at != OriginDefault) != (key == "version") {
			t.Errorf("%s comes from %s", key, at)
		}
	}
	open := regexp.MustCompile(`(?m)^#([^ #])`).ReplaceAllString(text, "$1")
	open = regexp.MustCompile(`(?m)^#(  +[a-z_]+:)`).ReplaceAllString(open, "$1")
	l = mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, open)})
	want := Default()
	want.setDefaultModels()
	if diff := diffConfigs(l.Config, want); diff != "" {
		t.Errorf("%s\n%s", diff, open)
	}
	for key, at := range l.Origin {
		if at == OriginDefault && !strings.HasPrefix(key, "models.default.") && key != "forge.url" {
			t.Errorf("%s is not in the file", key)
		}
	}
	if err := schemaAccepts(t, []byte(open)); err != nil {
		t.Error(err)
	}
	if err := schemaAccepts(t, []byte(text)); err != nil {
		t.Error(err)
	}
}

// A model that was found is set, whatever its name looks like.
func TestDraftWithModels(t *testing.T) {
	m := map[string]Model{
		"default": {Adapter: "ollama", Model: "qwen3: 8b # \"x\"", ContextTokens: 8192},
		"strong":  {Adapter: "openai", Model: "yes", APIKeyEnv: "OPENAI_API_KEY", Fallback: []string{"default"}},
	}
	text := ConfigDraft{Models: m}.Render()
	c := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, string(text))}).Config
	if c.Models["default"].Model != m["default"].Model || c.Models["default"].ContextTokens != 8192 ||
		c.Models["strong"].Model != "yes" ||
		c.Models["strong"].Fallback[0] != "default" || c.Models["strong"].APIKeyEnv != "OPENAI_API_KEY" ||
		c.Agents.Manager.Model != "strong" {
		t.Errorf("%+v", c.Models)
	}
	if err := schemaAccepts(t, text); err != nil {
		t.Error(err)
	}
}

// Nobody reads two hundred lines before the first task: the file that init writes has the
// keys that most people set first, in lines that a terminal shows whole.
func TestDraftIsShort(t *testing.T) {
	note := "Found: " + strings.Repeat("a long name of a check ", 16)
	text := string(ConfigDraft{Notes: map[string][]string{"gates": {note}}}.Render())
	lines := strings.Split(text, "\n")
	if len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
	every := ConfigDraft{All: true}.Render()
	for _, line := range append(lines, strings.Split(string(every), "\n")...) {
		if len(line) > draftWidth {
			t.Errorf("%d wide: %s", len(line), line)
		}
	}
	for _, key := range firstKeys {
		name := key[strings.LastIndex(key, ".")+1:] + ":"
		if strings.Count(text, name) == 0 {
			t.Errorf("%s is not in it", key)
		}
	}
	for _, key := range []string{"memory:", "recovery:", "serve:"} {
		if strings.Contains(text, key) {
			t.Errorf("%s is in it", key)
		}
	}
	mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, text)})
}
