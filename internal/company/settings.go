package company

import "time"

// Mode selects whether an approval is given automatically or by the president.
type Mode string

const (
	Auto Mode = "auto" // the company continues without asking
	Ask  Mode = "ask"  // the president is asked
)

// Settings holds the parts of the config that decisions depend on. They are frozen into a task when it is submitted, so
// that a replay decides the same.
type Settings struct {
	Cap       Amount   `json:"cap"` // per task; NoCap means no limit of that unit
	Plan      Mode     `json:"plan"`
	Merge     Mode     `json:"merge"`
	PR        Mode     `json:"pr"`
	Deps      Mode     `json:"deps,omitempty"` // dependencies that a worker adds; empty means auto
	NoGates   string   `json:"no_gates"`       // ask | allow | fail
	Protected []string `json:"protected,omitempty"`
	RedGreen  string   `json:"red_green,omitempty"` // off | report | require
	// ProtectTests means that existing tests change only with the president's approval.
	ProtectTests      bool          `json:"protect_tests,omitempty"`
	Paths             []string      `json:"paths,omitempty"`    // folders that the task must stay in; empty means all
	IntegrationPrefix string        `json:"integration_prefix"` // develop
	SharedIntegration bool          `json:"shared_integration,omitempty"`
	RunTimeout        time.Duration `json:"run_timeout"`
	ModelWait         time.Duration `json:"model_wait"`    // negative means that runs do not wait
	PlanRefusals      int           `json:"plan_refusals"` // number of refused plans that fails the task
	RunRetries        int           `json:"run_retries"`   // further runs after a broken one
	GateRetries       int           `json:"gate_retries"`  // further runs after a red gate
	ReviewRounds      int           `json:"review_rounds"` // further runs after findings
	Continuations     int           `json:"continuations"` // further runs after one ran out of turns; negative means none
	Conflicts         int           `json:"conflicts"`     // conflict resolutions of one subtask
	EffectRetries     int           `json:"effect_retries"`
	// MergeStack limits the subtasks that are merged and tested at once.
	MergeStack int `json:"merge_stack,omitempty"`
	// Commands lists the programs that commands of agents may start. Empty means all.
	Commands []string `json:"commands,omitempty"`
	// EscalateTo lists the model profiles that the manager may give to a stuck subtask.
	EscalateTo []string `json:"escalate_to,omitempty"`
	// Agents holds the agents and models that work on the task.
	Agents Bindings `json:"agents,omitzero"`
	// Way is auto, one or split. Empty means split.
	Way string `json:"way,omitempty"`
	// Granularity limits the size of a plan's subtasks.
	Granularity Granularity `json:"granularity,omitzero"`
	// ConfirmReview is off, blocking or all.
	ConfirmReview string `json:"confirm_review,omitempty"`
	// Generate lists the files that commands of the project generate.
	Generate []GenerateRule `json:"generate,omitempty"`
	// History is squash or keep. Empty means squash.
	History string `json:"history,omitempty"`
	// Exclusive forbids other unfinished tasks of the project on the task's base.
	Exclusive bool `json:"exclusive,omitempty"`
}

// Forms of the history that a pull request brings (git.history).
const (
	HistorySquash = "squash" // one commit for each ticket
	HistoryKeep   = "keep"   // the workers' commits, and a merge for each ticket
)

// KeepsHistory reports whether the workers' own commits are merged to the integration branch.
func (s Settings) KeepsHistory() bool { return s.History == HistoryKeep }

// GenerateRule names files that a command generates.
type GenerateRule struct {
	Paths   []string `json:"paths"`   // globs
	Command string   `json:"command"` // run in the root of the repository
}

// WithDefaults replaces zero fields with defaults. Where "none" is a valid setting, a negative number means none.
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

// LongestRun returns the time after which a run's own holder ends it, including waits, and keeps its work. The later
// hard deadline takes the run from its holder and loses the work.
func (s Settings) LongestRun() time.Duration {
	return s.RunTimeout + max(0, s.ModelWait)*3/2
}

// hardDeadline returns the time at which a run is taken from its holder. It includes waits for models.
func (s Settings) hardDeadline(claimed time.Time) time.Time {
	return claimed.Add(s.RunTimeout + 2*max(0, s.ModelWait))
}
