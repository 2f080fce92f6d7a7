// Package agenttools defines the tools in a worker's container, and a few on the host, as the model sees them.
// It owns their names, arguments and descriptions, which are a contract, and three rules. A toolbox's refusal is
// an answer for the model. Repeated access by a way out of the workspace is an escalation. Work is finished only
// when it is committed. The toolbox implements the tools, and other packages judge a finished run.
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
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// Toolbox is the toolbox of one container. A *toolproto.Refusal error is an answer to the model. Any other error
// ends the run.
type Toolbox interface {
	ReadFile(context.Context, toolproto.ReadFileRequest) (toolproto.ReadFileResult, error)
	WriteFile(context.Context, toolproto.WriteFileRequest) (toolproto.WriteFileResult, error)
	EditFile(context.Context, toolproto.EditFileRequest) (toolproto.EditFileResult, error)
	Search(context.Context, toolproto.SearchRequest) (toolproto.SearchResult, error)
	ListFiles(context.Context, toolproto.ListFilesRequest) (toolproto.ListFilesResult, error)
	Run(context.Context, toolproto.RunRequest) (toolproto.RunResult, error)
	CheckProcess(ctx context.Context, processID string) (toolproto.RunResult, error)
	StopProcess(ctx context.Context, processID string) (toolproto.RunResult, error)
	// Log copies the whole output of a process to w.
	Log(ctx context.Context, processID string, w io.Writer) (int64, error)
	GitStatus(context.Context) (toolproto.GitStatusResult, error)
	GitCommit(context.Context, toolproto.GitCommitRequest) (toolproto.GitCommitResult, error)
	Push(context.Context) (toolproto.PushResult, error)
}

var _ Toolbox = (*toolproto.Client)(nil)

// DenialLimit is the number of refused accesses that ends a run as escalated.
const DenialLimit = 3

// Config configures the tools of one run. Make one set per run, because it counts refused accesses. Ticket,
// Start and Branch are for WorkerTools.
type Config struct {
	Toolbox Toolbox
	Ticket  string // prefix of each commit message, in brackets; empty for no prefix
	// Start is the head that the run's work starts from. finish requires another head. A run that is resumed after
	// a crash keeps its first Start.
	Start company.OID
	// Base is the commit against which the changes of the branch are counted. With AskTests, finish asks once for
	// tests if the branch changes code but no test.
	Base     company.OID
	AskTests bool
	// MayAsk gives a worker the tool ask_president, which works before its first change.
	MayAsk bool
	// Merges means that the agent resolves a conflict, so it needs no tools that begin new work.
	Merges bool
	// Unfinished means that Start has work that no run has submitted, so finish requires no new commit.
	Unfinished bool
	Branch     string // the branch that finish requires, empty for any
	// CommandTimeout is the timeout of commands that set none. 0 means toolproto.CommandTimeout.
	CommandTimeout time.Duration
	// Commands lists the programs that commands may start. Empty means all.
	Commands []string
	// Security receives each access that was refused because it led out of the workspace (WRK-4). A wrong path is not
	// among them. It may be called concurrently. It may be nil.
	Security func(Denial)
	// Bypassed lists the files up to a commit of the branch whose content bypasses a filter or another attribute of
	// git. If it is nil, the run is told of none.
	Bypassed func(ctx context.Context, head company.OID) ([]gitops.BypassedFile, error)
	// Dependencies controls the packages that the run may fetch from registries. If it is nil or not enabled, the run
	// fetches none.
	Dependencies Dependencies
}

// Denial is one refused access, a security event.
type Denial struct {
	Tool   string         `json:"tool"`
	Kind   toolproto.Kind `json:"kind"` // outside or denied
	Reason string         `json:"reason"`
	Args   string         `json:"args"`  // cleaned, at most 300 bytes
	Count  int            `json:"count"` // refusals of this run so far, including this one; DenialLimit escalates
}

// ReadOnlyTools returns the tools of a reviewer, which reads and runs but does not write. submit_review is not
// included.
func ReadOnlyTools(c Config) []agent.Tool {
	f := &toolFactory{Config: c}
	return []agent.Tool{f.readFile(true), f.searchTool(), f.listFiles(), f.runCommand()}
}

// WorkerTools returns the tools of a worker or a merger, including those that end its run. A tool that the run has no
// use for is hidden: each request has the description of all others. Calls of it are still answered.
func WorkerTools(c Config) []agent.Tool {
	f := &toolFactory{Config: c}
	tools := []agent.Tool{
		f.readFile(false), storesText(markWriting(markBrief(f.writeFile()))),
		storesText(markWriting(markBrief(f.editFile()))), f.searchTool(),
		f.listFiles(),
		storesText(f.runCommand()), f.checkProcess(), f.stopProcess(),
		hideIf(true, f.gitStatus()), // run_command answers it, too
		markWriting(f.gitCommit()),
		hideIf(c.Merges || c.Dependencies == nil || !c.Dependencies.IsEnabled(), markWriting(f.addDependency())),
		hideIf(c.Merges, f.todoTool()), f.noteTool(), f.escalateTool(), markWriting(f.finishTool()),
	}
	if c.MayAsk {
		tools = append(tools, f.askPresident())
	}
	return tools
}

// hideIf keeps a tool out of requests on a condition.
func hideIf(hidden bool, tool agent.Tool) agent.Tool {
	tool.Hidden = tool.Hidden || hidden
	return tool
}

// markBrief marks a tool whose calls take almost no time.
func markBrief(tool agent.Tool) agent.Tool {
	tool.Brief = true
	return tool
}

// markWriting marks a tool whose calls change the repository.
func markWriting(tool agent.Tool) agent.Tool {
	tool.Writes = true
	return tool
}

// storesText marks a tool that may store its arguments in a file.
func storesText(tool agent.Tool) agent.Tool {
	tool.StoresText = true
	return tool
}

type toolFactory struct {
	Config
	mu      sync.Mutex
	denials int
	told    map[string]bool // lines about the commits that the agent has read
	// askedUnchanged means that finish asked whether the work needs no commit.
	askedUnchanged bool
	guesses        int // summaries that finish refused because they guess
}

// newTool returns a tool whose arguments decode into an A.
func newTool[A any](
	f *toolFactory, name, description, schema string, readOnly bool, run func(context.Context, A) (agent.Result, error),
) agent.Tool {
	return agent.Tool{
		Spec:     adapters.Tool{Name: name, Description: description, Schema: json.RawMessage(schema)},
		ReadOnly: readOnly,
		Run: func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				// The schema accepts values that Go does not, such as 1e3 as an integer.
				return agent.Result{Text: fmt.Sprintf("The arguments of %s cannot be read: %v.", name, err), IsError: true}, nil
			}
			res, err := run(ctx, args)
			var refusal *toolproto.Refusal
			switch {
			case errors.As(err, &refusal) && refusal.ByHost():
				return res, &agent.NotKept{Err: err} // not for the model: the call is repeated when the host has room
			case refusal != nil:
				no := f.refusalResult(name, raw, refusal)
				// git may have done a part: a commit that could not be pushed.
				no.Changed = !readOnly && refusal.Kind == toolproto.KindGit
				return no, nil
			}
			return res, err
		},
	}
}

// refusalResult turns a toolbox's refusal into a result for the model, and counts refused accesses.
func (f *toolFactory) refusalResult(name string, raw json.RawMessage, refusal *toolproto.Refusal) agent.Result {
	res := agent.Result{Text: refusal.Message, IsError: true}
	if refusal.Kind != toolproto.KindOutside && refusal.Kind != toolproto.KindDenied {
		return res
	}
	f.mu.Lock()
	f.denials++
	count := f.denials
	f.mu.Unlock()
	if f.Security != nil {
		f.Security(
			Denial{Tool: name, Kind: refusal.Kind, Reason: refusal.Message, Args: safetext.EscapeLine(string(raw), 300),
				Count: count})
	}
	if count < DenialLimit {
		res.Text += fmt.Sprintf("\nThis was recorded. After %d refused accesses the work is taken from you.", DenialLimit)
		return res
	}
	res.Text += "\nThis was refused too often; the work is handed to a person."
	res.Final = agent.Escalation{Reason: fmt.Sprintf(
		"%d refused accesses, the last by %s: %s", count, name, safetext.EscapeLine(refusal.Message, 300))}
	return res
}

// commandOutput returns the result of a command. If the text lacks a part of the output, such as the earlier frames of
// a progress bar, the result includes the whole log.
func (f *toolFactory) commandOutput(ctx context.Context, runResult toolproto.RunResult) (agent.Result, error) {
	all := runResult.Text()
	out, errs := runResult.Stdout, runResult.Stderr
	shown := len(out.Head) + len(out.Tail) + len(errs.Head) + len(errs.Tail)
	fromOut, fromErr := dropTestCourse(&runResult.Stdout), dropTestCourse(&runResult.Stderr)
	res := agent.Result{Text: runResult.Text(), Failure: runResult.Failure()}
	if out.Omitted == 0 && errs.Omitted == 0 && int64(shown) >= runResult.LogBytes {
		if fromOut || fromErr {
			res.Blob = []byte(all)
		}
		return res, nil
	}
	var whole bytes.Buffer
	_, failed := f.Toolbox.Log(ctx, runResult.ProcessID, &whole)
	var refusal *toolproto.Refusal
	switch {
	case errors.As(failed, &refusal): // the log is gone, so only head and tail remain
	case failed != nil:
		return res, failed
	default:
		res.Blob = whole.Bytes()
	}
	return res, nil
}
