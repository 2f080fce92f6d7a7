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

// Plan is how a manager wants a task done, as it submits it. It is a claim
// until Check has found nothing. A list of subtasks, each with what it comes after, is read
// as one wave.
type Plan struct {
	Waves []Wave `json:"waves"`
	Why   string `json:"why,omitempty"` // why it splits; due when there is more than one subtask
	// Title is the pull request's; see PullTitleFault. Empty: it is made of the instruction.
	Title string `json:"title,omitempty"`
	// Decisions are what the manager decided or assumed where the instruction is open.
	Decisions []string `json:"decisions,omitempty"`
}

// UnmarshalJSON reads a plan that lists its subtasks, or puts them into waves. It fails
// where a plan does both.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type waved Plan // without this method
	var in struct {
		waved
		Subtasks []PlannedSubtask `json:"subtasks"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(in.Subtasks) > 0 {
		if len(in.Waves) > 0 {
			return errors.New("a plan lists its subtasks or has waves, not both")
		}
		in.Waves = []Wave{{in.Subtasks}}
	}
	*p = Plan(in.waved)
	return nil
}

// Wave is a set of subtasks that may run at the same time, but for what they name in after.
// A later wave builds on all that the earlier ones merged.
type Wave struct {
	Subtasks []PlannedSubtask `json:"subtasks"`
}

// PlannedSubtask is one ticket of a plan.
type PlannedSubtask struct {
	Title              string   `json:"title"` // one line, up to 120 characters
	Description        string   `json:"description"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
	WriteSet           []string `json:"write_set"`         // globs of what it creates, changes or deletes
	Effort             string   `json:"effort"`            // small | medium | large
	Context            []string `json:"context,omitempty"` // files that travel with the ticket, or lines of them (ParseContext), and short notes
	Name               string   `json:"name,omitempty"`    // short, for the after of others
	// After are the subtasks that must be merged before this one begins: names, titles or
	// numbers as a manager gives them, ids of subtasks once the plan is recorded.
	After []string `json:"after,omitempty"`
	// Does are the parts of the instruction that it carries out, by their numbers (Task.Parts), from
	// 1. None: the plan does not say.
	Does []int `json:"does,omitempty"`
}

// Subtasks counts the subtasks of all waves.
func (p Plan) Subtasks() int {
	n := 0
	for _, w := range p.Waves {
		n += len(w.Subtasks)
	}
	return n
}

// PlanRules are the limits of a plan. A zero number stands for the default.
type PlanRules struct {
	Granularity  Granularity
	MaxWaves     int
	MaxWaveWidth int

	// Protected are globs that need the president, on top of DefaultProtected.
	// One that cannot be read is a problem of the plan's, so that nothing is
	// left unprotected by a slip.
	Protected []string
	// Paths are the folders that write sets are kept to; none: all.
	Paths []string
	// Files are the paths of the commit that is planned on, at least those
	// that the plan names; nil: they are not known. With them, a subtask that
	// reads what only another of its wave creates is found.
	Files []string
	// Parts is how many parts the instruction has; 0: it is one.
	Parts int
}

const (
	defaultMaxSubtasks  = 64 // of all waves
	defaultMaxWaves     = 16
	defaultMaxWaveWidth = 16 // subtasks
)

// WithDefaults fills in the numbers that are zero.
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

// PlanProblem is one reason why a plan is refused, with a text for the manager.
type PlanProblem struct {
	Where string `json:"where"` // "wave 1, subtask 2 (title)", "wave 3", "plan"
	What  string `json:"what"`
	Fix   string `json:"fix"`
}

func (p PlanProblem) String() string { return p.Where + ": " + p.What + "; " + p.Fix }

// PlanSchema is the JSON Schema of a plan: the arguments of submit_plan.
func PlanSchema() []byte { return []byte(planSchema) }

// ReplanSchema is the JSON Schema of the parts of a subtask that is planned anew.
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
          "does": {"type": "array", "items": {"type": "integer"}},
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
                "does": {"type": "array", "items": {"type": "integer"}},
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
