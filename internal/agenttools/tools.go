// Package agenttools is the tools that act in a worker's container, and the few
// that act on the host beside them, as the model is given them. It owns their
// names, arguments and descriptions, which are a contract, and three rules:
// a toolbox's refusal is an answer for the model, repeated reaching outside
// the workspace is an escalation, and work is finished only when it is
// committed. What the tools do is the toolbox's; what a finished run is worth
// is decided elsewhere.
package agenttools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// Toolbox is the toolbox of one container. A *toolproto.Refusal is an answer;
// any other error ends the run.
type Toolbox interface {
	ReadFile(context.Context, toolproto.ReadFileRequest) (toolproto.ReadFileResult, error)
	WriteFile(context.Context, toolproto.WriteFileRequest) (toolproto.WriteFileResult, error)
	EditFile(context.Context, toolproto.EditFileRequest) (toolproto.EditFileResult, error)
	Search(context.Context, toolproto.SearchRequest) (toolproto.SearchResult, error)
	ListFiles(context.Context, toolproto.ListFilesRequest) (toolproto.ListFilesResult, error)
	Run(context.Context, toolproto.RunRequest) (toolproto.RunResult, error)
	CheckProcess(ctx context.Context, processID string) (toolproto.RunResult, error)
	StopProcess(ctx context.Context, processID string) (toolproto.RunResult, error)
	// Log copies the whole output of a process.
	Log(ctx context.Context, processID string, w io.Writer) (int64, error)
	GitStatus(context.Context) (toolproto.GitStatusResult, error)
	GitCommit(context.Context, toolproto.GitCommitRequest) (toolproto.GitCommitResult, error)
	Push(context.Context) (toolproto.PushResult, error)
}

var _ Toolbox = (*toolproto.Client)(nil)

// DenialLimit is how often a run may reach for what it may not have: the last
// time ends it as escalated.
const DenialLimit = 3

// Config is what the tools of one run need. Make a set once per run: it
// counts. Ticket, Start and Branch are for WorkerTools.
type Config struct {
	Toolbox Toolbox
	Ticket  string // stands in brackets before each commit message; empty: nothing does
	// Start is the head that the run's work starts from: finish needs another.
	// A run that goes on after a crash keeps its first one.
	Start company.OID
	// Base is what the changes of the branch are counted from. AskTests has finish ask once for
	// tests where the branch changes code and no test.
	Base     company.OID
	AskTests bool
	// Unfinished says that Start has work that no run has handed in: finish needs no other commit.
	Unfinished bool
	Branch     string // the branch that finish insists on; empty: any
	// CommandTimeout is for commands that ask for no time of their own; 0:
	// toolproto.CommandTimeout.
	CommandTimeout time.Duration
	// Security receives every access that was refused because it reached out of
	// the workspace (WRK-4). It may be called concurrently. Nil: not reported.
	Security func(Denial)
	// Dependencies are what the run may fetch of package registries. Nil: nothing.
	Dependencies Dependencies
}

// Denial is one refused access, a security event.
type Denial struct {
	Tool   string         `json:"tool"`
	Kind   toolproto.Kind `json:"kind"` // outside or denied
	Reason string         `json:"reason"`
	Args   string         `json:"args"`  // cleaned, at most 300 bytes
	Count  int            `json:"count"` // of this run, from 1; DenialLimit escalates
}

// ReadOnlyTools is what a reviewer works with: it looks and runs, it does not write.
// Its submit_review is not in it.
func ReadOnlyTools(c Config) []agent.Tool {
	f := &toolFactory{Config: c}
	return []agent.Tool{f.readFile(true), f.searchTool(), f.listFiles(), f.runCommand()}
}

// WorkerTools is what a worker and a merger work with, finish and escalate
// included.
func WorkerTools(c Config) []agent.Tool {
	f := &toolFactory{Config: c}
	return []agent.Tool{
		f.readFile(false), markWriting(markBrief(f.writeFile())), markWriting(markBrief(f.editFile())), f.searchTool(), f.listFiles(),
		f.runCommand(), f.checkProcess(), f.stopProcess(),
		f.gitStatus(), markWriting(f.gitCommit()), markWriting(f.addDependency()),
		f.todoTool(), f.noteTool(), f.escalateTool(), markWriting(f.finishTool()),
	}
}

// markBrief marks a tool whose calls take no time to speak of.
func markBrief(t agent.Tool) agent.Tool {
	t.Brief = true
	return t
}

// markWriting marks a tool whose calls change the repository.
func markWriting(t agent.Tool) agent.Tool {
	t.Writes = true
	return t
}

type toolFactory struct {
	Config
	mu      sync.Mutex
	denials int
}

// newTool makes one whose arguments are an A.
func newTool[A any](f *toolFactory, name, description, schema string, readOnly bool, run func(context.Context, A) (agent.Result, error)) agent.Tool {
	return agent.Tool{
		Spec:     adapters.Tool{Name: name, Description: description, Schema: json.RawMessage(schema)},
		ReadOnly: readOnly,
		Run: func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				// What a schema lets pass and Go does not: 1e3 as an integer.
				return agent.Result{Text: fmt.Sprintf("The arguments of %s cannot be read: %v.", name, err), IsError: true}, nil
			}
			res, err := run(ctx, args)
			var refusal *toolproto.Refusal
			switch {
			case errors.As(err, &refusal) && refusal.ByHost():
				return res, &agent.NotKept{Err: err} // nothing for a model: the call is done again when there is room
			case refusal != nil:
				no := f.refusalResult(name, raw, refusal)
				// git may have done half of it: a commit that could not be pushed.
				no.Changed = !readOnly && refusal.Kind == toolproto.KindGit
				return no, nil
			}
			return res, err
		},
	}
}

// refusalResult lays a toolbox's refusal out for the model.
func (f *toolFactory) refusalResult(name string, raw json.RawMessage, r *toolproto.Refusal) agent.Result {
	res := agent.Result{Text: r.Message, IsError: true}
	if r.Kind != toolproto.KindOutside && r.Kind != toolproto.KindDenied {
		return res
	}
	f.mu.Lock()
	f.denials++
	count := f.denials
	f.mu.Unlock()
	if f.Security != nil {
		f.Security(Denial{Tool: name, Kind: r.Kind, Reason: r.Message, Args: safetext.EscapeLine(string(raw), 300), Count: count})
	}
	if count < DenialLimit {
		res.Text += fmt.Sprintf("\nThis was recorded. After %d refused accesses the work is taken from you.", DenialLimit)
		return res
	}
	res.Text += "\nThis was refused too often; the work is handed to a person."
	res.Final = agent.Escalation{Reason: fmt.Sprintf("%d refused accesses, the last by %s: %s", count, name, safetext.EscapeLine(r.Message, 300))}
	return res
}

// commandOutput is the result of a command, with its whole log where a part is left
// out of the text.
func (f *toolFactory) commandOutput(ctx context.Context, r toolproto.RunResult) (agent.Result, error) {
	all := r.Text()
	fromOut, fromErr := dropTestCourse(&r.Stdout), dropTestCourse(&r.Stderr)
	res := agent.Result{Text: r.Text(), Failure: r.Failure()}
	if r.Stdout.Omitted == 0 && r.Stderr.Omitted == 0 {
		if fromOut || fromErr {
			res.Blob = []byte(all)
		}
		return res, nil
	}
	var whole bytes.Buffer
	_, failed := f.Toolbox.Log(ctx, r.ProcessID, &whole)
	var refusal *toolproto.Refusal
	switch {
	case errors.As(failed, &refusal): // the log is gone; head and tail are what there is
	case failed != nil:
		return res, failed
	default:
		res.Blob = whole.Bytes()
	}
	return res, nil
}
