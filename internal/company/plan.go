package company

import (
	"encoding/json"
	"errors"
)

// Efforts that a manager may estimate (SUB-7).
const (
	EffortSmall  = "small"
	EffortMedium = "medium"
	EffortLarge  = "large"
)

// Plan is a manager's plan for a task, as submitted. It is not accepted until Check finds no problems. A plain list of
// subtasks, each with the subtasks that it comes after, is read as one wave.
type Plan struct {
	Waves []Wave `json:"waves"`
	Why   string `json:"why,omitempty"` // reason for the split; required if there is more than one subtask
	// Title is the title of the pull request; see PullTitleFault. If empty, it is derived from the instruction.
	Title string `json:"title,omitempty"`
	// Decisions lists the manager's decisions and assumptions where the instruction left a point open.
	Decisions []string `json:"decisions,omitempty"`
}

// UnmarshalJSON reads a plan that either lists its subtasks or groups them in waves. It fails if a plan does both.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type waved Plan // Plan without this method
	var in struct {
		waved
		Subtasks []PlannedSubtask `json:"subtasks"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(in.Subtasks) > 0 {
		if len(in.Waves) > 0 {
			return errors.New("a plan has subtasks or waves, not both")
		}
		in.Waves = []Wave{{in.Subtasks}}
	}
	*p = Plan(in.waved)
	return nil
}

// Wave is a set of subtasks that may run at the same time, except as their after entries require. A later wave builds
// on everything that the earlier ones merged.
type Wave struct {
	Subtasks []PlannedSubtask `json:"subtasks"`
}

// PlannedSubtask is one ticket of a plan.
type PlannedSubtask struct {
	Title              string   `json:"title"` // one line, up to 120 characters
	Description        string   `json:"description"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
	WriteSet           []string `json:"write_set"` // globs of the files that it creates, changes or deletes
	Effort             string   `json:"effort"`    // small | medium | large
	// Context lists files that the ticket needs, or lines of them (ParseContext), and short notes.
	Context []string `json:"context,omitempty"`
	Name    string   `json:"name,omitempty"` // short name for the after entries of other subtasks
	// After lists the subtasks that must be merged before this one begins. A manager gives names, titles or numbers. A
	// recorded plan has ids of subtasks.
	After []string `json:"after,omitempty"`
}

// Subtasks returns the number of subtasks in all waves.
func (p Plan) Subtasks() int {
	n := 0
	for _, w := range p.Waves {
		n += len(w.Subtasks)
	}
	return n
}

// PlanRules holds the limits of a plan. A zero number means the default.
type PlanRules struct {
	Granularity  Granularity
	MaxWaves     int
	MaxWaveWidth int

	// Protected lists globs that need the president's permission, in addition to DefaultProtected. An invalid glob is
	// reported as a problem of the plan, so a typing mistake leaves no path unprotected.
	Protected []string
	// Paths lists the folders that write sets must stay in. Empty means all.
	Paths []string
	// Files lists the paths of the planned commit, at least the ones that the plan names. Nil means that they are unknown.
	// With Files, Check finds a subtask that reads a file that only another subtask of its wave creates.
	Files []string
}

const (
	defaultMaxSubtasks  = 64 // of all waves
	defaultMaxWaves     = 16
	defaultMaxWaveWidth = 16 // subtasks
)

// WithDefaults replaces zero numbers with their defaults.
func (r PlanRules) WithDefaults() PlanRules {
	def := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	r.Granularity = r.Granularity.withDefaults()
	def(&r.MaxWaves, defaultMaxWaves)
	def(&r.MaxWaveWidth, defaultMaxWaveWidth)
	return r
}

// PlanProblem is one reason for refusing a plan, with a text for the manager.
type PlanProblem struct {
	Where string `json:"where"` // "wave 1, subtask 2 (title)", "wave 3", "plan"
	What  string `json:"what"`
	Fix   string `json:"fix"`
}

func (p PlanProblem) String() string { return p.Where + ": " + p.What + "; " + p.Fix }

// PlanSchema returns the JSON Schema of a plan: the arguments of submit_plan.
func PlanSchema() []byte { return []byte(planSchema) }

// ReplanSchema returns the JSON Schema of the subtasks that replace a replanned subtask.
func ReplanSchema() []byte { return []byte(replanSchema) }

const replanSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["reason", "subtasks"],
  "properties": {
    "reason": {"type": "string", "minLength": 1, "maxLength": 4000},
    "decisions": {"type": "array", "maxItems": 20, "items": {"type": "string"}, "description": "What you decided or assumed, one sentence each."},
` + subtasksSchema + `
  }
}`

const subtasksSchema = `    "subtasks": {
      "type": "array", "minItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["title", "description", "acceptance_criteria", "write_set", "effort"],
        "properties": {
          "name": {"type": "string"},
          "title": {"type": "string"},
          "description": {"type": "string"},
          "acceptance_criteria": {"type": "array", "minItems": 1, "items": {"type": "string"}},
          "write_set": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "internal/api/**, docs/*.md"},
          "effort": {"type": "string", "enum": ["small", "medium", "large"]},
          "after": {"type": "array", "items": {"type": "string"}, "description": "names"},
          "context": {"type": "array", "items": {"type": "string"}, "description": "files, notes"}
        }
      }
    }`

const planSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "title": {"type": "string"},
    "decisions": {"type": "array", "maxItems": 20, "items": {"type": "string"}},
    "why": {"type": "string"},
` + subtasksSchema + `,
    "waves": {
      "type": "array", "minItems": 1,
      "description": "Instead of subtasks: groups of them, each group after all of the one before.",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["subtasks"],
        "properties": {
          "subtasks": {
            "type": "array", "minItems": 1,
            "items": {
              "type": "object",
              "additionalProperties": false,
              "required": ["title", "description", "acceptance_criteria", "write_set", "effort"],
              "properties": {
                "name": {"type": "string"},
                "title": {"type": "string"},
                "description": {"type": "string"},
                "acceptance_criteria": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "write_set": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "effort": {"type": "string", "enum": ["small", "medium", "large"]},
                "after": {"type": "array", "items": {"type": "string"}},
                "context": {"type": "array", "items": {"type": "string"}}
              }
            }
          }
        }
      }
    }
  }
}
`
