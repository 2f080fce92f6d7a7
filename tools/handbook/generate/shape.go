package generate

import (
	"time"

	"company/internal/agent"
	"company/internal/api"
	"company/internal/app"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/healthcheck"
	"company/internal/office/config"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/surface/diagnose"
	"company/internal/upkeep"
)

// Shape is the JSON that a command prints with -o json.
type Shape struct {
	Name     string   // its definition in the schema
	Commands []string // as a person types them
	Doc      string
	Example  any // a value of its type
}

// Envelope is what every object begins with.
type Envelope struct {
	SchemaVersion int `json:"schema_version"`
}

// The types below describe what commands put together from parts of view. The
// tests of internal/surface/cli hold the output to them.
type (
	shapeTasks struct {
		Envelope
		Tasks []view.Summary `json:"tasks"`
	}
	shapeSubmitted struct {
		Envelope
		Task company.TaskID `json:"task"`
		Log  string         `json:"log,omitempty"` // of the company in the background, where one was started
	}
	shapeOutcome struct {
		Envelope
		Task     company.TaskID     `json:"task"`
		Status   company.TaskStatus `json:"status"`
		AtWork   bool               `json:"at_work"` // a company goes on with it by itself
		Question company.ApprovalID `json:"question,omitempty"`
		Budget   *view.Budget       `json:"budget,omitempty"`
	}
	shapePlan struct {
		Envelope
		Task company.TaskID `json:"task"`
		Plan company.Plan   `json:"plan"`
	}
	shapeEditedPlan struct {
		Envelope
		Task     company.TaskID `json:"task"`
		Changed  bool           `json:"changed"`
		Subtasks int            `json:"subtasks"`
	}
	shapeStopped struct {
		Envelope
		Stopped    bool            `json:"stopped"`
		WasStopped bool            `json:"was_stopped"`
		Runs       []company.RunID `json:"runs"` // that are held
	}
	shapePaused struct {
		Envelope
		Paused         []company.TaskID    `json:"paused"`
		PausedSubtasks []company.SubtaskID `json:"paused_subtasks"`
	}
	shapeRolledBack struct {
		Envelope
		Run     company.RunID     `json:"run"`
		Subtask company.SubtaskID `json:"subtask"`
		From    company.OID       `json:"from"` // the commit that the subtask continues from
	}
	shapeBudgets struct {
		Envelope
		Tasks  []view.Budget       `json:"tasks"`
		Office []view.OfficeBudget `json:"office"`
	}
	shapeStaff struct {
		Envelope
		Workers    int             `json:"workers"`
		Hired      int             `json:"hired"`
		HandedBack []company.RunID `json:"handed_back"` // runs that another worker goes on with
	}
	shapeServed struct {
		Envelope
		Office string    `json:"office"`
		From   time.Time `json:"from"`
		Until  time.Time `json:"until"`
		Open   int       `json:"open_tasks"`
	}
	shapePulls struct {
		Envelope
		PullRequests []view.PullRequest `json:"pull_requests"`
	}
	shapePull struct {
		Envelope
		PullRequest view.PullRequest `json:"pull_request"`
		Body        string           `json:"body,omitempty"` // of show
	}
	shapeSynced struct {
		Envelope
		PullRequests []view.PullSync `json:"pull_requests"`
	}
	shapeImages struct {
		Envelope
		Images []app.ImageEntry `json:"images"`
	}
	shapeImage struct {
		Envelope
		ID     string   `json:"id"`
		Tag    string   `json:"tag"`
		Notes  []string `json:"notes"`
		TookMS int64    `json:"took_ms"`
	}
	shapeLayer struct {
		Kind   string `json:"kind"`
		Tag    string `json:"tag"`
		Why    string `json:"why"`
		Cached bool   `json:"cached"`
		Bytes  int64  `json:"bytes"`
	}
	shapeLayers struct {
		Envelope
		Image string       `json:"image"` // id; empty: it is not there
		Parts []shapeLayer `json:"parts"`
		Notes []string     `json:"notes"`
	}
	shapeProjects struct {
		Envelope
		Projects []company.ProjectRecord `json:"projects"`
	}
	shapeProject struct {
		Envelope
		Project company.ProjectRecord `json:"project"`
	}
	shapeRemoved struct {
		Envelope
		Removed company.ProjectRecord `json:"removed"`
	}
	shapePatch struct {
		Envelope
		Of        string           `json:"of"`
		From      company.OID      `json:"from"`
		To        company.OID      `json:"to"`
		Files     []company.Change `json:"files"`
		Patch     string           `json:"patch"`
		Truncated bool             `json:"truncated"`
	}
	shapeTranscript struct {
		Envelope
		Run         company.RunID             `json:"run"`
		Agent       string                    `json:"agent"`
		TotalTokens int                       `json:"total_tokens"`
		Messages    []agent.TranscriptMessage `json:"messages"`
		ToolCalls   []agent.TranscriptCall    `json:"tool_calls"`
	}
	shapeEntry struct {
		Envelope
		Run company.RunID `json:"run"`
		agent.TranscriptEntry
	}
	shapeTold struct {
		Envelope
		Subtask company.SubtaskID `json:"subtask"`
		Run     company.RunID     `json:"run"`     // that reads it
		AtWork  bool              `json:"at_work"` // a company goes on with it by itself
	}
	shapeCheckout struct {
		Envelope
		PullRequest int         `json:"pull_request"`
		Branch      string      `json:"branch"`
		Head        company.OID `json:"head"`
		Checkout    string      `json:"checkout"` // folder
	}
	shapeTrust struct {
		Envelope
		File       string                `json:"file"`
		Hash       company.Hash          `json:"hash"`
		WasTrusted bool                  `json:"was_trusted"`
		Asks       []config.TrustRequest `json:"asks"`
	}
	shapeLogins struct {
		Envelope
		Checkout   string   `json:"checkout"`
		WasTrusted bool     `json:"was_trusted"`
		Logins     []string `json:"logins"` // hosts
		GoPrivate  string   `json:"go_private"`
	}
	shapeDraft struct {
		Envelope
		Found  diagnose.Findings `json:"found"`
		Text   string            `json:"text,omitempty"`   // of --dry-run
		File   string            `json:"file,omitempty"`   // that was written
		Backup string            `json:"backup,omitempty"` // of the file before
	}
	shapeOrphans struct {
		Envelope
		Orphans []upkeep.OrphanContainer `json:"orphans"`
	}
	shapeDoctor struct {
		Envelope
		OK     bool                  `json:"ok"`
		Checks []healthcheck.Finding `json:"checks"`
	}
	shapeHostKeys struct {
		Envelope
		Host string        `json:"host"`
		Keys []app.HostKey `json:"keys"`
	}
	shapeConfigCheck struct {
		Envelope
		OK       bool             `json:"ok"`
		Sources  []string         `json:"sources"`
		Problems []config.Problem `json:"problems"`
		Unused   []string         `json:"unused_variables"`
	}
	shapeConfigValue struct {
		Key    string `json:"key"`
		Value  string `json:"value"`  // as written in company.yaml
		Origin string `json:"origin"` // default, a file with line and column, a variable, a flag
	}
	shapeLink struct {
		Envelope
		api.Link
	}
	shapeConfig struct {
		Envelope
		Office string             `json:"office"`
		Hash   company.Hash       `json:"hash"`
		Values []shapeConfigValue `json:"values"`
	}
	shapeConfigValueChange struct {
		Key string `json:"key"`
		// as written in company.yaml; absent: there was none, or the config did not load
		Before string `json:"before,omitempty"`
		After  string `json:"after,omitempty"`
		Origin string `json:"origin,omitempty"` // of what counts now
	}
	shapeConfigChange struct {
		Envelope
		File   string                   `json:"file"`
		Key    string                   `json:"key"`
		Was    string                   `json:"was"`    // in the file, as YAML; empty: not set
		Now    string                   `json:"now"`    // the same as was: nothing was written
		Values []shapeConfigValueChange `json:"values"` // of the whole config, that changed
		// next_command; of a company at work next_task or next_start
		Counts     string   `json:"counts"`
		Holder     int      `json:"holder,omitempty"` // process id of the company at work
		NeedsTrust []string `json:"needs_trust"`      // keys for which the file counts after company trust
	}
	shapeVersion struct {
		Envelope
		Version string `json:"version"`
		Commit  string `json:"commit,omitempty"` // that it was built from; -dirty: with changes
	}
	shapeErrorBody struct {
		company.Error
		Fix string `json:"fix,omitempty"` // what to do next; hint is its older name
	}
	shapeError struct {
		Envelope
		Error shapeErrorBody `json:"error"`
	}
)

// Shapes lists what the commands print.
func Shapes() []Shape {
	return []Shape{
		{"overview", []string{"status"}, "overview of the office", view.Overview{}},
		{"shown", []string{"show", "status <task>"}, "task, subtask, run or question",
			view.Shown{}},
		{"feed_item", []string{"feed", "progress on stderr"},
			"event of the feed", feed.Item{}},
		{"summary", []string{"submit", "retry", "resume <task>", "wait <task>"}, "result of a task", view.Summary{}},
		{"summaries", []string{"resume", "wait"}, "results of several tasks", shapeTasks{}},
		{"submitted", []string{"submit --detach"}, "submitted task", shapeSubmitted{}},
		{"outcome", []string{"answer", "approve", "reject", "cancel", "budget add"}, "state of a task after a command",
			shapeOutcome{}},
		{"plan", []string{"plan show"}, "plan of a task", shapePlan{}},
		{"edited_plan", []string{"plan edit"}, "result of editing a plan", shapeEditedPlan{}},
		{"stopped", []string{"stop"}, "stopped office", shapeStopped{}},
		{"paused", []string{"pause"}, "paused tasks and subtasks", shapePaused{}},
		{"rolled_back", []string{"rollback"}, "subtask whose changes were undone", shapeRolledBack{}},
		{"evidence", []string{"evidence verify"}, "claims of a task, compared with what shows them", view.EvidenceCheck{}},
		{"agents", []string{"agents"}, "agents and their current work", view.Agents{}},
		{"staff", []string{"hire", "fire"}, "number of workers", shapeStaff{}},
		{"budgets", []string{"budget show", "budget add --day"}, "caps and spending", shapeBudgets{}},
		{"transcript", []string{"logs"}, "conversation of a run", shapeTranscript{}},
		{"prompt", []string{"prompt"}, "prompt that an agent would be sent", view.Prompt{}},
		{"transcript_entry", []string{"logs --follow"}, "message or tool call", shapeEntry{}},
		{"replay", []string{"replay"}, "result of a replay", replay.Report{}},
		{"saved_record", []string{"replay --save"}, "file with a task's record", replay.Saved{}},
		{"told", []string{"tell"}, "run that gets a message", shapeTold{}},
		{"task_list", []string{"list"}, "tasks, newest first", view.TaskList{}},
		{"spending", []string{"costs"}, "cost of finished runs", view.Spending{}},
		{"task_costs", []string{"costs <task>"}, "cost of a task, subtask or run", view.TaskCosts{}},
		{"patch", []string{"diff", "pr diff"}, "unified diff", shapePatch{}},
		{"pull_requests", []string{"pr list"}, "pull requests", shapePulls{}},
		{"pull_request", []string{"pr show", "pr merge", "pr close"}, "pull request", shapePull{}},
		{"pull_checkout", []string{"pr checkout"}, "checked out branch", shapeCheckout{}},
		{"synced", []string{"pr sync"}, "feedback of the forge", shapeSynced{}},
		{"projects", []string{"project list"}, "projects", shapeProjects{}},
		{"project", []string{"project add"}, "project", shapeProject{}},
		{"removed_project", []string{"project remove"}, "removed project", shapeRemoved{}},
		{"served", []string{"serve"}, "printed at the end of company serve", shapeServed{}},
		{"link", []string{"open"}, "one-time link for a browser", shapeLink{}},
		{"cleanup", []string{"cleanup", "image prune"}, "removed files, or those of a dry run", upkeep.Report{}},
		{"images", []string{"image list"}, "images", shapeImages{}},
		{"image", []string{"image build"}, "image", shapeImage{}},
		{"layers", []string{"image explain"}, "layers of an image", shapeLayers{}},
		{"draft", []string{"init"}, "findings and the written file", shapeDraft{}},
		{"doctor", []string{"doctor"}, "checks", shapeDoctor{}},
		{"orphans", []string{"doctor --list-orphans"}, "orphaned containers", shapeOrphans{}},
		{"trust", []string{"trust"}, "settings that need trust", shapeTrust{}},
		{"logins", []string{"trust --logins"}, "logins that a repository may use", shapeLogins{}},
		{"host_keys", []string{"git trust-host"}, "accepted host keys", shapeHostKeys{}},
		{"config", []string{"config show", "config get"}, "keys with value and source", shapeConfig{}},
		{"config_check", []string{"config check"}, "problems of the config", shapeConfigCheck{}},
		{"config_change", []string{"config set", "config unset"}, "change of a key",
			shapeConfigChange{}},
		{"migration", []string{"migrate"}, "migrations that were run", app.Migration{}},
		{"bus_conversion", []string{"bus convert"}, "records that were converted", app.BusConversion{}},
		{"version", []string{"version"}, "version", shapeVersion{}},
		{"error", []string{"errors on stderr"}, "error", shapeError{}},
	}
}
