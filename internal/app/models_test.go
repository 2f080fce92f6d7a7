package app

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// TestModelProfiles: what a profile says reaches its model (ADP-5, ADP-7: names
// verbatim, keys from the environment alone, each for its own address).
func TestModelProfiles(t *testing.T) {
	dir := t.TempDir()
	text := `models:
  ours: {adapter: openai, model: "Weird/Name:1 b", base_url: "http://h/v1", context_tokens: 9, max_output: 8, temperature: 0.5, tools: no, price: {input: 1, output: 2, cached: 3, cache_write: 4}, fallback: [claude]}
  claude: {adapter: anthropic, model: c, api_key_env: MINE}
  gpt: {adapter: openai, model: g}
  play: {adapter: scripted, script: s.yaml}
`
	configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), text)
	l, err := config.Load(t.Context(), config.LoadOptions{Env: configtest.Env(map[string]string{
		"XDG_CONFIG_HOME": dir, config.VarEnvironment: "test"})})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "MINE": "sk-m",
		"OLLAMA_HOST": "gpu-box"}
	got := map[string]adapters.Profile{}
	for _, p := range ModelProfiles(l, dir, func(name string) string { return env[name] }) {
		got[p.Name] = p
	}
	half := 0.5
	want := map[string]adapters.Profile{
		"default": {Name: "default", Adapter: "ollama", Model: "llama3", BaseURL: "http://gpu-box:11434",
			Tools: adapters.ToolsAuto, Images: adapters.ImagesAuto, Unchosen: true},
		"ours": {Name: "ours", Adapter: "openai", Model: "Weird/Name:1 b", BaseURL: "http://h/v1", ContextTokens: 9,
			MaxOutput: 8, Temperature: &half,
			Tools: adapters.ToolsNo, Images: adapters.ImagesAuto,
			Price:    adapters.Price{Known: true, InputMicro: 1e6, OutMicro: 2e6, CacheMicro: 3e6, WriteMicro: 4e6},
			Fallback: []string{"claude"}},
		"claude": {Name: "claude", Adapter: "anthropic", Model: "c", KeyEnv: "MINE", Key: secret.New("sk-m"),
			Tools: adapters.ToolsAuto, Images: adapters.ImagesAuto},
		"gpt": {Name: "gpt", Adapter: "openai", Model: "g", KeyEnv: "OPENAI_API_KEY", Key: secret.New("sk-o"),
			Tools: adapters.ToolsAuto, Images: adapters.ImagesAuto},
		"play": {Name: "play", Adapter: "scripted", Script: filepath.Join(dir, "s.yaml"), Tools: adapters.ToolsAuto,
			Images: adapters.ImagesAuto},
	}
	for name, w := range want {
		if line := map[string]int{"ours": 2, "claude": 3, "gpt": 4}[name]; line > 0 {
			w.SetIn = fmt.Sprintf("%s/company/config.yaml:%d", dir, line)
		}
		if !reflect.DeepEqual(got[name], w) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d profiles", len(got))
	}
}

// Fallbacks in a circle, which validation refuses elsewhere, end here too.
func TestFallbackChain(t *testing.T) {
	c := config.Config{Models: map[string]config.Model{"a": {Fallback: []string{"b", "c"}},
		"b": {Fallback: []string{"a"}}, "c": {}}}
	if got := strings.Join(FallbackChain(c, "a"), " "); got != "a b c" {
		t.Error(got)
	}
}

// A second reviewer is asked by its own profile, and counts where profiles in use are
// looked at; without one there are no second agents. An unknown profile is refused.
func TestSecondReviewer(t *testing.T) {
	load := func(second string) (config.Loaded, error) {
		dir := t.TempDir()
		text := "models:\n  default: {adapter: openai, model: first}\n  other: {adapter: openai, model: unheard-of}\n" +
			second
		configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), text)
		return config.Load(t.Context(), config.LoadOptions{Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
	}
	l, err := load("agents: {second_reviewer: {model: other, max_turns: 7}}\n")
	if err != nil {
		t.Fatal(err)
	}
	b := BindAgents(l.Config)
	if b.SecondReviewer.Profile != "other" || b.SecondReviewer.MaxTurns != 7 || b.Reviewer.Profile != "default" ||
		b.Models["other"].Model != "unheard-of" {
		t.Errorf("%+v", b)
	}
	if got := AgentModels(l.Config); strings.Join(got, " ") != "default default default default other" {
		t.Errorf("%q", got)
	}
	if got := UnpricedModels(l.Config); !slices.Contains(got, "unheard-of") {
		t.Errorf("%q", got)
	}
	if l, err = load(""); err != nil || BindAgents(l.Config).SecondReviewer.Profile != "" ||
		len(AgentModels(l.Config)) != len(AllRoles) {
		t.Errorf("%v: %q", err, AgentModels(l.Config))
	}
	if l, err = load("agents: {worker: {escalate_to: [other], max_turns: 8}}\n"); err != nil {
		t.Fatal(err)
	}
	if b := BindAgents(l.Config); b.Models["other"].Model != "unheard-of" || b.Worker.MaxTurns != 8 ||
		b.Worker.Profile != "default" {
		t.Errorf("%+v", b)
	}
	if got := AgentModels(l.Config); strings.Join(got, " ") != "default default default default other" ||
		!slices.Contains(UnpricedModels(l.Config), "unheard-of") {
		t.Errorf("%q", got)
	}
	if got := CompanySettings(l.Config).EscalateTo; len(got) != 1 || got[0] != "other" {
		t.Errorf("%q", got)
	}
	if _, err = load("agents: {worker: {escalate_to: [nobody]}}\n"); err == nil ||
		!strings.Contains(err.Error(), "agents.worker.escalate_to") {
		t.Errorf("%v", err)
	}
	if _, err = load("agents: {second_reviewer: {model: nobody}}\n"); err == nil ||
		!strings.Contains(err.Error(), "agents.second_reviewer.model") {
		t.Errorf("%v", err)
	}
}
