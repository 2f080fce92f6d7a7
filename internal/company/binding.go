package company

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Bindings say which agent does what in a task: the agent of each role, and the models behind the
// profiles that they name. A task gets them from the config when it is submitted and when it is
// reopened. Addresses, keys and prices of models are no part: they belong to the config of the
// process that asks a model.
type Bindings struct {
	Manager  AgentBinding `json:"manager,omitzero"`
	Worker   AgentBinding `json:"worker,omitzero"`
	Reviewer AgentBinding `json:"reviewer,omitzero"`
	Merger   AgentBinding `json:"merger,omitzero"`
	// SecondReviewer is zero where the config names none.
	SecondReviewer AgentBinding `json:"second_reviewer,omitzero"`
	// Models are the models by profile, fallbacks included.
	Models map[string]ModelBinding `json:"models,omitempty"`
}

// AgentBinding is the agent of a role.
type AgentBinding struct {
	Profile  string `json:"profile"`
	MaxTurns int    `json:"max_turns,omitempty"` // 0: the agent's default
	Persona  string `json:"persona,omitempty"`   // the operator's addition to the system prompt
}

// ModelBinding is the model of a profile.
type ModelBinding struct {
	Adapter       string   `json:"adapter"`
	Model         string   `json:"model,omitempty"`
	Fallback      []string `json:"fallback,omitempty"`
	ContextTokens int      `json:"context_tokens,omitempty"`
	MaxOutput     int      `json:"max_output,omitempty"`
	Temperature   *float64 `json:"temperature,omitempty"`
	Tools         string   `json:"tools,omitempty"`
	Images        string   `json:"images,omitempty"`
}

// IsZero reports whether nothing is bound.
func (b Bindings) IsZero() bool { return reflect.ValueOf(b).IsZero() }

// Agent returns the agent of a role.
func (b Bindings) Agent(r Role) AgentBinding {
	switch r {
	case Manager:
		return b.Manager
	case Reviewer:
		return b.Reviewer
	case Merger:
		return b.Merger
	}
	return b.Worker
}

// Chain lists a profile and all that it falls back to, each once and depth first.
func (b Bindings) Chain(profile string) []string {
	var out []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(out, name) {
			return
		}
		out = append(out, name)
		for _, next := range b.Models[name].Fallback {
			add(next)
		}
	}
	add(profile)
	return out
}

// Describe names the model of a profile as records do.
func (b Bindings) Describe(profile string) BriefModel {
	m := b.Models[profile]
	return BriefModel{Profile: profile, Adapter: m.Adapter, Model: m.Model}
}

// NameModels lists the model of each role for people: "manager strong (openai big), worker ...".
func (b Bindings) NameModels() string {
	var out []string
	for _, r := range []Role{Manager, Worker, Reviewer, Merger} {
		m := b.Describe(b.Agent(r).Profile)
		out = append(out, fmt.Sprintf("%s %s (%s %s)", r, m.Profile, m.Adapter, m.Model))
	}
	return strings.Join(out, ", ")
}

// maxBindings bounds the texts of bindings, in bytes. Most of it is for personas.
const maxBindings = 256 << 10

// validate refuses bindings that the ledger cannot hold.
func (b Bindings) validate() error {
	size := 0
	for _, a := range []AgentBinding{b.Manager, b.Worker, b.Reviewer, b.Merger, b.SecondReviewer} {
		size += len(a.Profile) + len(a.Persona)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Models)) {
		m := b.Models[name]
		size += len(name) + len(m.Adapter) + len(m.Model) + len(m.Tools) + len(m.Images)
		for _, f := range m.Fallback {
			size += len(f)
		}
		if t := m.Temperature; t != nil && (math.IsNaN(*t) || math.IsInf(*t, 0)) {
			return E(EInvalid, "the temperature of model profile "+cutText(name, maxModelName)+" is no number").Fix("set a temperature from 0 to 2")
		}
	}
	if size > maxBindings {
		return E(EInvalid, "the agents and models of the config take more than 256 KiB").Fix("shorten the personas")
	}
	return nil
}

// Rebinding is what a task takes from the config when it goes on with the agents of the config.
type Rebinding struct {
	Agents     Bindings `json:"agents"`
	EscalateTo []string `json:"escalate_to,omitempty"`
}

// changes returns the rebinding if it gives the task other agents, or nil.
func (r *Rebinding) changes(t *Task) *Rebinding {
	if r == nil || r.Agents.IsZero() || reflect.DeepEqual(r.Agents, t.Settings.Agents) && slices.Equal(r.EscalateTo, t.Settings.EscalateTo) {
		return nil
	}
	return r
}

// rebindAgents gives the task other agents. Runs that have begun keep theirs.
func (t *Task) rebindAgents(r *Rebinding) {
	if r == nil {
		return
	}
	for _, run := range t.Runs {
		if !run.Ended && run.Fence > 0 && run.Agents == nil {
			c, had := *run, t.Settings.Agents
			c.Agents = &had
			t.setRun(&c)
		}
	}
	for _, sub := range t.Subtasks {
		if _, ok := r.Agents.Models[sub.Model]; !ok && sub.Model != "" {
			t.editSubtask(sub.ID).Model = ""
		}
	}
	t.Settings.Agents, t.Settings.EscalateTo = r.Agents, r.EscalateTo
}

// BindingsOf returns the agents that a run works with: those of its task when it began.
func (t *Task) BindingsOf(r *Run) Bindings {
	if r != nil && r.Agents != nil {
		return *r.Agents
	}
	return t.Settings.Agents
}

// AgentOf returns the agent of a run. A worker of a subtask that was given another model has that
// one.
func (t *Task) AgentOf(r *Run) AgentBinding {
	a := t.BindingsOf(r).Agent(r.Role)
	if sub := t.Subtask(r.Subtask); r.Role == Worker && sub != nil && sub.Model != "" {
		a.Profile = sub.Model
	}
	return a
}
