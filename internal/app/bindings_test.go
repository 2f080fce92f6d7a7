package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun/program"
	"company/internal/company"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// loadText is the config of a company.yaml.
func loadText(t *testing.T, text string) config.Loaded {
	t.Helper()
	dir := t.TempDir()
	configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), text)
	l, err := config.Load(t.Context(), config.LoadOptions{Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What decides which agent does what is bound, and what belongs to a machine is not.
func TestBindAgents(t *testing.T) {
	l := loadText(t, `models:
  strong: {adapter: openai, model: big, base_url: "https://models.example/v1", api_key_env: STRONG_KEY, fallback: [local], temperature: 0.5, max_output: 1000, context_tokens: 9000, tools: "no"}
  local: {adapter: ollama, model: small}
  unused: {adapter: ollama, model: never}
agents:
  reviewer:
    {model: strong, persona: Be strict., max_turns: 7, title: Auditor, capabilities: [SQL],
      responsibilities: [find injections, read tests]}
  worker: {model: local}
  manager: {model: local}
  merger: {model: local}
`)
	b := BindAgents(l.Config)
	reviewer := company.AgentBinding{Profile: "strong", MaxTurns: 7, Title: "Auditor", Capabilities: []string{"SQL"},
		Persona: "Be strict.\n\nYour title: Auditor\n\nYour responsibilities:\n- find injections\n- read tests\n\n" +
			"Your capabilities:\n- SQL"}
	if !reflect.DeepEqual(b.Reviewer, reviewer) || b.Worker.Profile != "local" ||
		!reflect.DeepEqual(b.SecondReviewer, company.AgentBinding{}) {
		t.Errorf("%+v", b)
	}
	m := b.Models["strong"]
	if m.Adapter != "openai" || m.Model != "big" || len(m.Fallback) != 1 || *m.Temperature != 0.5 || m.MaxOutput != 1000 ||
		m.ContextTokens != 9000 || m.Tools != "no" || len(b.Models) != 2 {
		t.Errorf("%+v", b.Models)
	}
	if text, err := company.HashOf(b); err != nil || text == "" {
		t.Error(err)
	}
	for _, secret := range []string{"STRONG_KEY", "models.example"} {
		if got := (company.Submit{Instruction: "x", Settings: CompanySettings(l.Config)}); strings.Contains(
			jsonOf(t, got), secret) {
			t.Errorf("a submission has %s", secret)
		}
	}
}

// changingConfig is a config that a test changes.
type changingConfig struct {
	now config.Loaded
	err error
}

func (c *changingConfig) ConfigFor(context.Context, string) (config.Loaded, error) {
	return c.now, c.err
}

// A task keeps its models when the config names others: they are asked at the address that the
// config has now for the profile. A profile that is gone, or is of another adapter, is a question.
func TestTaskKeepsItsModels(t *testing.T) {
	text := `models: {strong: {adapter: openai, model: big, base_url: "https://one.example/v1", price: {input: 3}}}
agents: {worker: {model: strong}, manager: {model: strong}, reviewer: {model: strong}, merger: {model: strong}}
`
	began := loadText(t, text)
	bound := BindAgents(began.Config)
	change := func(was, now string) config.Loaded {
		t.Helper()
		if !strings.Contains(text, was) {
			t.Fatal(was)
		}
		return loadText(t, strings.ReplaceAll(text, was, now))
	}
	none := loadText(t, "{}")
	env := func(string) string { return "" }
	for name, c := range map[string]struct {
		start, now config.Loaded
		address    string // "": it is refused
		why        string
		priced     bool
	}{
		"nothing changed": {began, began, "https://one.example/v1", "", true},
		"another model at start": {change("model: big", "model: huge"), change("model: big", "model: huge"),
			"https://one.example/v1", "", false},
		"another address":        {change("one.example", "two.example"), began, "https://two.example/v1", "", true},
		"mended since the start": {none, began, "https://one.example/v1", "", true},
		"the profile is gone":    {none, none, "", "no profile of that name any more", false},
		"another adapter": {change("adapter: openai", "adapter: ollama"), change("adapter: openai", "adapter: ollama"),
			"", "it is ollama big now", false},
	} {
		o := &officeAgents{loaded: c.start, configs: &changingConfig{now: c.now}, env: env}
		profiles, same, err := o.findProfiles(t.Context(), bound, "strong")
		if c.address == "" {
			if company.CodeOf(err) != company.EConfig || !company.NeedsPerson(err) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(profiles) != 1 || profiles[0].Model != "big" || profiles[0].BaseURL != c.address ||
			profiles[0].Price.Known != c.priced || same != c.priced {
			t.Errorf("%s: %+v, the same: %v, %v", name, profiles, same, err)
		}
		driver, err := o.Driver(t.Context(), bound, "strong")
		if noted, ok := driver.(notedLoop); err != nil || ok == same ||
			ok && !strings.Contains(noted.note, "keeps big for the profile strong") {
			t.Errorf("%s: %+v, %v", name, driver, err)
		}
	}
	broken := &officeAgents{loaded: none,
		configs: &changingConfig{err: company.E(company.EConfig, "company.yaml cannot be read")}, env: env}
	if _, err := broken.Driver(t.Context(), bound, "strong"); company.CodeOf(err) != company.EConfig ||
		!company.NeedsPerson(err) {
		t.Errorf("an unreadable config: %v", err)
	}
	if _, err := (&officeAgents{loaded: began, env: env}).Driver(t.Context(), company.Bindings{}, ""); company.CodeOf(
		err) != company.EConfig {
		t.Errorf("a task without agents: %v", err)
	}
}

// A program is bound with the model that it asks, and has its own limit of turns unless one is set.
func TestProgramIsBound(t *testing.T) {
	const models = "models: {a: {adapter: ollama, model: one}, b: {adapter: openai, model: two, base_url: \"http://h\"}, " +
		"p: {adapter: cli, program: opencode, via: b}}\nagents: {manager: {model: a}, reviewer: {model: a}, merger: {model: a}, "
	for worker, turns := range map[string]int{"worker: {model: p}}\n": 0, "worker: {model: p, max_turns: 30}}\n": 30,
		"worker: {model: a}}\n": 30} {
		l := loadText(t, models+worker)
		b := BindAgents(freeTurns(l))
		if b.Worker.MaxTurns != turns {
			t.Errorf("%s: %d turns", worker, b.Worker.MaxTurns)
		}
		if b.Worker.Profile != "p" {
			continue
		}
		if got := b.Describe("p"); got.Model != "opencode by two" || !b.IsProgram("p") || b.Models["b"].Model != "two" {
			t.Errorf("%+v, %+v", got, b.Models)
		}
		o := &officeAgents{loaded: l, env: func(string) string { return "" }}
		driver, err := o.Driver(t.Context(), b, "p")
		if got, ok := driver.(program.Driver); err != nil || !ok || got.Program.Name != "opencode" ||
			got.Models == nil ||
			got.Bin != nil {
			t.Errorf("%+v, %v", driver, err)
		}
		b.Models["p"] = company.ModelBinding{Adapter: company.AdapterProgram, Model: "unheard-of"}
		if _, err := o.Driver(t.Context(), b, "p"); company.CodeOf(err) != company.EConfig {
			t.Errorf("%v", err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The models of one binding are opened once, each driver names its own, and none opens after the
// end.
func TestModelsAreOpenedOnce(t *testing.T) {
	l := loadText(t, "models: {a: {adapter: ollama, model: one}, b: {adapter: ollama, model: two}}\nagents: {worker: "+
		"{model: a}, manager: {model: b}, reviewer: {model: a}, merger: {model: a}}\n")
	o := &officeAgents{loaded: l, env: func(string) string { return "" }}
	b := BindAgents(l.Config)
	open := func(profile string) agent.Loop {
		t.Helper()
		d, err := o.Driver(t.Context(), b, profile)
		if err != nil {
			t.Fatal(err)
		}
		return d.(agent.Loop)
	}
	first, again, other := open("a"), open("a"), open("b")
	if first.Models.(boundModel).models != again.Models.(boundModel).models ||
		first.Model != (company.BriefModel{Profile: "a", Adapter: "ollama", Model: "one"}) || other.Model.Model != "two" {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	m, err := other.Models.OpenModel(func(m adapters.Model) adapters.Model { return m })
	if err != nil || m.Info().Model != "two" {
		t.Errorf("%v, %v", m, err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Driver(t.Context(), b, "a"); company.CodeOf(err) != company.EStopped {
		t.Errorf("opened after the end: %v", err)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
