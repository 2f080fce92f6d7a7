package company

import "time"

// Mode says how an approval is answered.
type Mode string

const (
	Auto Mode = "auto" // the company goes on by itself
	Ask  Mode = "ask"  // the president is asked
)

// Settings are the parts of the config that decisions depend on. They are
// frozen into a task when it is submitted so that a replay decides the same.
type Settings struct {
	Cap               Amount        `json:"cap"` // per task; NoCap = no limit in that dimension
	Plan              Mode          `json:"plan"`
	Merge             Mode          `json:"merge"`
	PR                Mode          `json:"pr"`
	Deps              Mode          `json:"deps,omitempty"` // dependencies that a worker adds; empty: auto
	NoGates           string        `json:"no_gates"`       // ask | allow | fail
	Protected         []string      `json:"protected,omitempty"`
	RedGreen          string        `json:"red_green,omitempty"`     // off | report | require; empty, of tasks of older versions: as the office is set
	ProtectTests      bool          `json:"protect_tests,omitempty"` // tests that are there change with the president's leave alone
	Paths             []string      `json:"paths,omitempty"`         // folders that the task is kept to; none: all
	IntegrationPrefix string        `json:"integration_prefix"`      // develop
	SharedIntegration bool          `json:"shared_integration,omitempty"`
	RunTimeout        time.Duration `json:"run_timeout"`
	ModelWait         time.Duration `json:"model_wait"`    // negative: no patience at all
	PlanRefusals      int           `json:"plan_refusals"` // refused plans before the task fails
	RunRetries        int           `json:"run_retries"`   // further runs after a broken one
	GateRetries       int           `json:"gate_retries"`  // further runs after a red gate
	ReviewRounds      int           `json:"review_rounds"` // further runs after findings
	Continuations     int           `json:"continuations"` // further runs after one out of turns; negative: none
	Conflicts         int           `json:"conflicts"`     // resolutions of one subtask
	EffectRetries     int           `json:"effect_retries"`
	// MergeStack is how many subtasks are merged and tested at once at most; 0, of tasks
	// of older versions, is 1.
	MergeStack int `json:"merge_stack,omitempty"`
	// EscalateTo are the profiles of models of which the manager may give one to a subtask
	// that is stuck.
	EscalateTo []string `json:"escalate_to,omitempty"`
	// Agents are the agents and models that the task is worked on with.
	Agents Bindings `json:"agents,omitzero"`
	// Way is auto, one or split; empty is split.
	Way string `json:"way,omitempty"`
	// Granularity is how large and how small the subtasks of a plan may be; zero, of tasks of
	// older versions, are the defaults.
	Granularity Granularity `json:"granularity,omitzero"`
	// ConfirmReview is off, blocking or all; empty, of tasks of older versions, is off.
	ConfirmReview string `json:"confirm_review,omitempty"`
	// Generate are the files that commands of the project make.
	Generate []GenerateRule `json:"generate,omitempty"`
	// History is squash or keep; empty is squash.
	History string `json:"history,omitempty"`
	// Exclusive allows no other unfinished task of the project on the task's base.
	Exclusive bool `json:"exclusive,omitempty"`
	// Rules are the company's own at the time of the submission. What a task
	// has decided by older ones still stands; zero are the first.
	Rules int `json:"rules,omitempty"`
}

// Forms of the history that a pull request brings (git.history).
const (
	HistorySquash = "squash" // one commit for each ticket
	HistoryKeep   = "keep"   // the workers' commits, and a merge for each ticket
)

// KeepsHistory reports whether the workers' own commits come to the integration branch.
func (s Settings) KeepsHistory() bool { return s.History == HistoryKeep }

// GenerateRule are files that a command makes.
type GenerateRule struct {
	Paths   []string `json:"paths"`   // globs
	Command string   `json:"command"` // in the root of the repository
}

// currentRules: since 1 a check that cannot be read needs the president's
// leave, and so does a change of code of others. Since 2 the approval of a
// task's only ticket holds for the whole. Since 3 the findings of earlier reviews are kept,
// each with its status. Since 4 a state keeps the decisions of managers on stuck subtasks.
// Since 5 a second review that broke is over for its head, whatever the first one says,
// a review that is taken back leaves its findings, and a second look that the company's own fault broke is tried again.
const currentRules = 5

// WithDefaults replaces zero fields by the defaults. Where "none" is a valid
// setting, a negative number stands for it.
func (s Settings) WithDefaults() Settings {
	def := func(p *int, n int) {
		if *p == 0 {
			*p = n
		}
	}
	def(&s.PlanRefusals, 3)
	def(&s.RunRetries, 2)
	def(&s.GateRetries, 2)
	def(&s.ReviewRounds, 2)
	def(&s.Continuations, 3)
	def(&s.Conflicts, 2)
	def(&s.EffectRetries, 4)
	def(&s.MergeStack, 4)
	s.Rules = currentRules
	if s.Plan == "" {
		s.Plan = Auto
	}
	if s.Merge == "" {
		s.Merge = Auto
	}
	if s.PR == "" {
		s.PR = Auto
	}
	if s.NoGates == "" {
		s.NoGates = "ask"
	}
	if s.IntegrationPrefix == "" {
		s.IntegrationPrefix = "develop"
	}
	if s.RunTimeout == 0 {
		s.RunTimeout = 30 * time.Minute
	}
	if s.ModelWait == 0 {
		s.ModelWait = 15 * time.Minute
	}
	if s.Cap == (Amount{}) {
		s.Cap = Amount{MicroUSD: 5_000_000, Tokens: 5_000_000}
	}
	return s
}

// LongestRun is how long a run may take with all waits, by its own holder: that one keeps its work. A run that is
// taken from its holder, at the hard deadline behind it, has none.
func (s Settings) LongestRun() time.Duration {
	return s.RunTimeout + max(0, s.ModelWait)*3/2
}

// hardDeadline is when a run is taken from its holder, waits for models
// included.
func (s Settings) hardDeadline(claimed time.Time) time.Time {
	return claimed.Add(s.RunTimeout + 2*max(0, s.ModelWait))
}
