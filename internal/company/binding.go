package company

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Bindings holds the agents of a task: the agent of each role, and the models behind the profiles that they name. A
// task gets them from the config when it is submitted and when it is reopened. They contain no addresses, keys or
// prices of models. Those belong to the config of the process that calls a model.
type Bindings struct {
	Manager  AgentBinding `json:"manager,omitzero"`
	Worker   AgentBinding `json:"worker,omitzero"`
	Reviewer AgentBinding `json:"reviewer,omitzero"`
	Merger   AgentBinding `json:"merger,omitzero"`
	// SecondReviewer is zero if the config has none.
	SecondReviewer AgentBinding `json:"second_reviewer,omitzero"`
	// Models holds the models by profile, including fallbacks.
	Models map[string]ModelBinding `json:"models,omitempty"`
}

// AgentBinding is the agent of a role.
type AgentBinding struct {
	Profile  string `json:"profile"`
	MaxTurns int    `json:"max_turns,omitempty"` // 0 means the agent's default
	Persona  string `json:"persona,omitempty"`   // the operator's addition to the system prompt
	Title    string `json:"title,omitempty"`     // what the operator calls it, part of Persona
	// Capabilities lists what it can do, part of Persona. The manager plans by those of the worker.
	Capabilities []string `json:"capabilities,omitempty"`
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
	// Bin is the command line of a program that is the agent, for the adapter cli. Model is then its kind, and Fallback
	// the profile of the model that it asks.
	Bin []string `json:"bin,omitempty"`
}

// IsZero reports whether no agent and no model is bound.
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

// AdapterProgram is the adapter of a profile whose agent is another program.
const AdapterProgram = "cli"

// IsProgram reports whether the agent of a profile is another program.
func (b Bindings) IsProgram(profile string) bool { return b.Models[profile].Adapter == AdapterProgram }

// Chain returns a profile and all its fallbacks, without repeats and depth first.
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

// Describe returns the model of a profile as records name it. For another program that is its name and the model that
// it asks: "opencode by gpt-5".
func (b Bindings) Describe(profile string) BriefModel {
	m := b.Models[profile]
	if b.IsProgram(profile) && len(m.Fallback) > 0 {
		m.Model += " by " + b.Models[m.Fallback[0]].Model
	}
	return BriefModel{Profile: profile, Adapter: m.Adapter, Model: m.Model}
}

// NameModels lists the model of each role for people: "manager strong (openai big), worker ...".
func (b Bindings) NameModels() string {
	var out []string
	for _, role := range []Role{Manager, Worker, Reviewer, Merger} {
		m := b.Describe(b.Agent(role).Profile)
		out = append(out, fmt.Sprintf("%s %s (%s %s)", role, m.Profile, m.Adapter, m.Model))
	}
	return strings.Join(out, ", ")
}

// maxBindings limits the texts of bindings, in bytes. Most of it is for personas.
const maxBindings = 256 << 10

// validate refuses bindings that the ledger cannot hold.
func (b Bindings) validate() error {
	size := 0
	for _, a := range []AgentBinding{b.Manager, b.Worker, b.Reviewer, b.Merger, b.SecondReviewer} {
		size += len(a.Profile) + len(a.Persona) + len(a.Title) + len(strings.Join(a.Capabilities, ""))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Models)) {
		modelBinding := b.Models[name]
		size += len(name) + len(modelBinding.Adapter) + len(modelBinding.Model) + len(modelBinding.Tools) +
			len(modelBinding.Images)
		for _, f := range slices.Concat(modelBinding.Fallback, modelBinding.Bin) {
			size += len(f)
		}
		if t := modelBinding.Temperature; t != nil && (math.IsNaN(*t) || math.IsInf(*t, 0)) {
			return E(EInvalid, "invalid temperature of model profile "+cutText(name, maxModelName)).
				Fix("set a temperature from 0 to 2")
		}
	}
	if size > maxBindings {
		return E(EInvalid, "the agents and models of the config take more than 256 KiB").
			Fix("shorten the personas, titles, responsibilities and capabilities")
	}
	return nil
}

// Rebinding holds the parts of the config that a task takes over when it continues with the config's agents.
type Rebinding struct {
	Agents     Bindings `json:"agents"`
	EscalateTo []string `json:"escalate_to,omitempty"`
}

// changes returns the rebinding if it gives the task other agents, or nil.
func (r *Rebinding) changes(task *Task) *Rebinding {
	if r == nil || r.Agents.IsZero() ||
		reflect.DeepEqual(r.Agents, task.Settings.Agents) && slices.Equal(r.EscalateTo, task.Settings.EscalateTo) {
		return nil
	}
	return r
}

// rebindAgents gives the task other agents. Runs that have begun keep theirs.
func (t *Task) rebindAgents(rebinding *Rebinding) {
	if rebinding == nil {
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
		if _, ok := rebinding.Agents.Models[sub.Model]; !ok && sub.Model != "" {
			t.editSubtask(sub.ID).Model = ""
		}
	}
	t.Settings.Agents, t.Settings.EscalateTo = rebinding.Agents, rebinding.EscalateTo
}

// BindingsOf returns the agents of a run: its task's agents when it began.
func (t *Task) BindingsOf(run *Run) Bindings {
	if run != nil && run.Agents != nil {
		return *run.Agents
	}
	return t.Settings.Agents
}

// AgentOf returns the agent of a run. A worker uses the subtask's own model if it has one.
func (t *Task) AgentOf(run *Run) AgentBinding {
	agentBinding := t.BindingsOf(run).Agent(run.Role)
	if sub := t.Subtask(run.Subtask); run.Role == Worker && sub != nil && sub.Model != "" {
		agentBinding.Profile = sub.Model
	}
	return agentBinding
}
