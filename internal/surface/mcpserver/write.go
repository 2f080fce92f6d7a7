package mcpserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
)

// maxWords limits the text from a client to agents, in bytes. A message to a worker may have a
// lower limit.
const maxWords = 64 << 10

type submitArguments struct {
	Instruction  string   `json:"instruction" jsonschema:"what is to be done, in your words"`
	Project      string   `json:"project,omitempty" jsonschema:"project of the office by name, or the path of a git checkout (default: that of the server)"`
	Base         string   `json:"base,omitempty" jsonschema:"branch to start from"`
	Follows      string   `json:"follows,omitempty" jsonschema:"go on with the open pull request of this task"`
	After        []string `json:"after,omitempty" jsonschema:"begin when the pull requests of these tasks are merged"`
	Priority     string   `json:"priority,omitempty" jsonschema:"what goes first"`
	Deadline     string   `json:"deadline,omitempty" jsonschema:"when it should be done: 2026-12-01, 2026-12-01T17:00, or from now 36h, 3d"`
	Tags         []string `json:"tags,omitempty" jsonschema:"tags of the task"`
	BudgetUSD    float64  `json:"budget_usd,omitempty" jsonschema:"cap of this task in USD"`
	BudgetTokens string   `json:"budget_tokens,omitempty" jsonschema:"cap of this task in tokens: 200k, 5M"`
	DryRun       bool     `json:"dry_run,omitempty" jsonschema:"stop after the plan"`

	Attach []attachedArgument `json:"attach,omitempty" jsonschema:"texts and images that belong to the instruction, with their contents"`

	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours: a repeat with the same id and the same arguments is done once"`
}

// attachedArgument is a file with its content. It has no path, because any client that may submit
// could then read all files of the user (docs/decisions/instructions.md).
type attachedArgument struct {
	Name   string  `json:"name" jsonschema:"its file name, such as spec.md"`
	Text   *string `json:"text,omitempty" jsonschema:"content of a text"`
	Base64 *string `json:"base64,omitempty" jsonschema:"content of a PNG, JPEG, GIF or WebP image, or of a text, in base64"`
}

type answerArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, such as a7"`
	Text      string `json:"text" jsonschema:"the answer"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type tellArguments struct {
	Subtask   string `json:"subtask" jsonschema:"id of the subtask, such as t12-03"`
	Text      string `json:"text" jsonschema:"what its worker reads at its next turn"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type restArguments struct {
	ID        string `json:"id" jsonschema:"id of a task or of a subtask"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type stopArguments struct {
	Why       string `json:"why,omitempty" jsonschema:"why"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type cancelArguments struct {
	Task      string `json:"task" jsonschema:"id of the task"`
	Why       string `json:"why,omitempty" jsonschema:"why"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type approveArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, or of the task whose one question is open"`
	Option    string `json:"option,omitempty" jsonschema:"another of the question's options, by its name; without it: approve"`
	Text      string `json:"text,omitempty" jsonschema:"what the agent that asked is to know"`
	Add       string `json:"add,omitempty" jsonschema:"of a budget: how much the cap grows, such as 5usd or 100ktokens"`
	EndTask   bool   `json:"end_task,omitempty" jsonschema:"needed where the option ends the whole task"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

type rejectArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, or of the task whose one question is open"`
	Text      string `json:"text,omitempty" jsonschema:"how it is to be done instead"`
	EndTask   bool   `json:"end_task,omitempty" jsonschema:"needed where this no ends the whole task"`
	RequestID string `json:"request_id,omitempty" jsonschema:"an id of yours, which makes a repeat harmless"`
}

// limitRequest restricts the format of a request id.
func limitRequest(p *jsonschema.Schema) { p.Pattern = `^[A-Za-z0-9._:-]{1,80}$` }

// nameCommand returns a command id that makes a client's request run once. It returns "" without a
// request id, and a fresh id is then used. Each tool has ids of its own.
func nameCommand(tool, request string) string {
	if request == "" {
		return ""
	}
	return "mcp-" + tool + "-" + request
}

func (s toolset) addWritingTools() {
	words, request := limitText(1, maxWords), func(p *jsonschema.Schema) { limitRequest(p) }
	addTool(s, writes, "submit",
		"Give the company an instruction for a git repository. It returns when the task has its id; the work goes on in "+
			"the background.",
		bounds{
			"instruction": limitText(1, company.MaxInstruction), "project": limitText(1, 4096), "base": limitText(1, 250),
			"follows": limitID, "deadline": limitText(1, 40), "budget_tokens": limitText(1, 20),
			"priority": func(p *jsonschema.Schema) {
				p.Enum = []any{"low", "medium", "high"}
			}, "tags": limitList(0, 20, 100), "budget_usd": limitNumber(1e-6, 1e6), "request_id": request,
			"attach": func(p *jsonschema.Schema) { limitText(1, 1000)(p.Items.Properties["name"]) },
		}, s.submitTask)
	addTool(s, writes, "answer", "Answer a question that asks for words. It approves nothing. The task goes on.",
		bounds{"question": limitID, "text": words, "request_id": request}, s.answerQuestion)
	addTool(s, writes, "tell", "Say something to the worker that is at a subtask.",
		bounds{"subtask": limitID, "text": words, "request_id": request}, s.tellWorker)
	addTool(s, writes, "pause", "Let a task or a subtask rest. What its runs had done is kept.",
		bounds{"id": limitID, "request_id": request}, s.pauseWork)
	addTool(s, writes, "resume",
		"Lift the pause of a task or a subtask, and have a company go on with it where none is at work.",
		bounds{"id": limitID, "request_id": request}, s.resumeWork)
	addTool(s, writes, "stop",
		"Stop everything in the office at once: model calls are cut, containers end, and nothing begins until the "+
			"president's company resume.", bounds{"why": limitText(0, 1000), "request_id": request}, s.stop)
	addTool(s, destroys, "cancel", "End a task for good; its merged work stays on its branch.",
		bounds{"task": limitID, "why": limitText(0, 1000), "request_id": request}, s.cancelTask)
}

func (s toolset) addApprovingTools() {
	addTool(s, destroys, "approve",
		"Say yes to a question, as the president: a plan, a merge, a pull request, a budget. Or choose another of its "+
			"options by name.",
		bounds{"question": limitID, "option": limitText(1, 64), "text": limitText(0, maxWords), "add": limitText(1, 40),
			"request_id": limitRequest}, s.approveQuestion)
	addTool(s, destroys, "reject",
		"Say no to a question, as the president. With words the work is done anew where that is possible.",
		bounds{"question": limitID, "text": limitText(0, maxWords), "request_id": limitRequest}, s.rejectQuestion)
}

func (s *Server) submitTask(ctx context.Context, arguments submitArguments) (*mcp.CallToolResult, error) {
	if strings.TrimSpace(arguments.Instruction) == "" {
		return nil, company.E(company.EUsage, "the instruction is empty").Fix("say what is to be done")
	}
	files, err := readAttached(arguments.Attach)
	if err != nil {
		return nil, err
	}
	done, err := s.host.Submit(ctx, view.Submission{
		Instruction: arguments.Instruction, Project: arguments.Project, Base: arguments.Base, Follows: arguments.Follows,
		After:    arguments.After,
		Priority: arguments.Priority, Deadline: arguments.Deadline, Tags: arguments.Tags,
		BudgetUSD: arguments.BudgetUSD, BudgetTokens: arguments.BudgetTokens, DryRun: arguments.DryRun, Attachments: files,
		ID: nameCommand("submit", arguments.RequestID),
	})
	if err != nil {
		return nil, err
	}
	state := "is submitted"
	if len(arguments.After) > 0 {
		state = "begins once merged: " + strings.Join(arguments.After, ", ")
	}
	r := newResult(fmt.Sprintf("%s %s. Next: wait for it, or show %s.", done.Task, state, done.Task))
	r.StructuredContent = done
	return r, nil
}

// readAttached decodes the contents of files. The check of a submission validates them.
func readAttached(given []attachedArgument) ([]view.AttachedFile, error) {
	var out []view.AttachedFile
	for _, argument := range given {
		refused := company.E(company.EUsage, safetext.EscapeLine(argument.Name, 200)+" is not attached")
		var content []byte
		switch {
		case (argument.Text == nil) == (argument.Base64 == nil):
			return nil, refused.Because("a file has its content in text or in base64").Fix("give one of the two")
		case argument.Text != nil:
			content = []byte(*argument.Text)
		default:
			var err error
			if content, err = base64.StdEncoding.DecodeString(*argument.Base64); err != nil {
				return nil, refused.Because("base64 cannot be decoded").Wrap(err).
					Fix("encode the content by RFC 4648, with padding; give a text in text")
			}
		}
		out = append(out, view.AttachedFile{Name: argument.Name, Content: content})
	}
	return out, nil
}

// outcome is the result of a command, for a program.
type outcome struct {
	Task   company.TaskID     `json:"task,omitempty"` // empty if it concerns the office
	Status company.TaskStatus `json:"status,omitempty"`
	AtWork bool               `json:"at_work"` // a company is running, so the work continues by itself
}

// act is a client's command about a task, or about the office if task is empty.
type act struct {
	id   string // id of the command, empty for a fresh id
	task company.TaskID
	cmd  company.Command
	what string // the text of the answer
	// goesOn starts a company if no company is running and the task can continue. Otherwise an agent
	// would need a terminal for that.
	goesOn bool
}

// do sends a command, and reports the effect on its task and whether the work continues.
func (s *Server) do(ctx context.Context, a act) (*mcp.CallToolResult, error) {
	return s.doFound(ctx, func(context.Context, *client.Office) (act, error) { return a, nil })
}

// doFound is do for a command that find creates from the office's current state.
func (s *Server) doFound(
	ctx context.Context, find func(context.Context, *client.Office) (act, error),
) (*mcp.CallToolResult, error) {
	var a act
	var out outcome
	over, start := false, false
	err := s.withOffice(ctx, func(office *client.Office) (err error) {
		if a, err = find(ctx, office); err != nil {
			return err
		}
		if _, err := office.Do(ctx, a.id, a.cmd); err != nil {
			return err
		}
		if a.task == "" {
			out.AtWork = office.IsServed()
			return nil
		}
		work, err := office.Work(ctx, a.task)
		if err != nil {
			return err
		}
		progress := work.Tasks[0]
		out, over = outcome{Task: progress.ID, Status: progress.Status, AtWork: office.IsServed()}, progress.Over
		start = a.goesOn && !out.AtWork && work.CanGoOn(progress.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text := a.what
	if start {
		if err := s.host.GoOn(ctx, a.task); err != nil {
			code, message, reason, _ := describeError(err)
			text += fmt.Sprintf("\nNo company could be started: error[%s]: %s %s", code, message, reason)
		} else {
			text += fmt.Sprintf("\nA company goes on with %s: wait for it.", a.task)
			out.AtWork = true
		}
	}
	if a.task != "" && !over && !out.AtWork {
		text += fmt.Sprintf("\nNo company is at work: the president goes on with company resume %s", a.task)
	}
	r := newResult(text)
	r.StructuredContent = out
	return r, nil
}

// decideQuestion sends the president's answer to a question. check may reject it first.
func (s *Server) decideQuestion(
	ctx context.Context, id, question string, ans company.Answer,
	check func(*client.Office, view.Approval, company.Answer) error,
) (*mcp.CallToolResult, error) {
	return s.doFound(ctx, func(ctx context.Context, office *client.Office) (act, error) {
		approval, err := office.Approval(ctx, company.ApprovalID(question))
		if err != nil {
			return act{}, err
		}
		ans.Approval, ans.By = approval.ID, "mcp"
		if check != nil {
			if err := check(office, approval, ans); err != nil {
				return act{}, err
			}
		}
		return act{id: id, task: approval.Task, cmd: ans, what: fmt.Sprintf("%s is answered: %s", approval.ID, ans.Option),
			goesOn: true}, nil
	})
}

func (s *Server) answerQuestion(ctx context.Context, arguments answerArguments) (*mcp.CallToolResult, error) {
	return s.decideQuestion(ctx, nameCommand("answer", arguments.RequestID), arguments.Question,
		company.Answer{Option: company.OptAnswer, Text: arguments.Text},
		func(_ *client.Office, approval view.Approval, _ company.Answer) error {
			if !approval.AsksForWords() { // the core rejects it, too, but suggests commands
				return company.E(company.EInvalid, fmt.Sprintf("%s asks for a yes or a no", approval.ID)).
					Because("answer takes words alone").
					Fix("the president's company approve or company reject; a server with --allow-approve has the tools")
			}
			return nil
		})
}

func (s *Server) approveQuestion(ctx context.Context, arguments approveArguments) (*mcp.CallToolResult, error) {
	ans := company.Answer{Option: cmp.Or(arguments.Option, company.OptApprove), Text: arguments.Text}
	if arguments.Add != "" {
		var err error
		if ans.Raise, err = view.ParseAmount(arguments.Add); err != nil {
			return nil, err
		}
	}
	return s.decideQuestion(ctx, nameCommand("approve", arguments.RequestID), arguments.Question, ans,
		func(office *client.Office, approval view.Approval, ans company.Answer) error {
			if o, _ := approval.FindOption(ans.Option); ans.Raise != (company.Amount{}) && o.Input != company.InputAmount {
				return company.E(company.EUsage, "add is for a question about the budget").
					Because(fmt.Sprintf("%s is about: %s", approval.ID, approval.Kind)).Fix("leave add out")
			}
			return checkEnd(ctx, office, approval, ans, arguments.EndTask)
		})
}

func (s *Server) rejectQuestion(ctx context.Context, arguments rejectArguments) (*mcp.CallToolResult, error) {
	ans := company.Answer{Option: company.OptReject, Text: arguments.Text}
	return s.decideQuestion(ctx, nameCommand("reject", arguments.RequestID), arguments.Question, ans,
		func(o *client.Office, q view.Approval, ans company.Answer) error {
			return checkEnd(ctx, o, q, ans, arguments.EndTask)
		})
}

// checkEnd returns an error for an answer that ends its task, unless agreed is set.
func checkEnd(
	ctx context.Context, office *client.Office, approval view.Approval, ans company.Answer, agreed bool,
) error {
	option, _ := approval.FindOption(ans.Option)
	if agreed || approval.Answered != nil || !option.Confirm {
		return nil
	}
	all, err := office.EndedBy(ctx, approval.Task, ans)
	if err == nil && all != "" {
		err = company.E(company.EWaiting,
			fmt.Sprintf("%s is not answered: this %s ends all of %s", approval.ID, option.Label(), all)).
			Fix("give words that have it done anew, or end_task")
	}
	return err
}

func (s *Server) tellWorker(ctx context.Context, arguments tellArguments) (*mcp.CallToolResult, error) {
	sub := company.SubtaskID(arguments.Subtask)
	if !sub.Valid() {
		return nil, company.E(company.EUsage, fmt.Sprintf("%q is no subtask", arguments.Subtask)).
			Fix("subtasks look like t12-03: show the task")
	}
	return s.do(
		ctx, act{id: nameCommand("tell", arguments.RequestID), task: sub.Task(),
			cmd:  company.Tell{Subtask: sub, Text: arguments.Text},
			what: arguments.Subtask + " reads it at its next turn"})
}

// setPause pauses the task or subtask with an id, or resumes it if off is set.
func (s *Server) setPause(
	ctx context.Context, id string, arguments restArguments, off bool, what string,
) (*mcp.CallToolResult, error) {
	if sub := company.SubtaskID(arguments.ID); sub.Valid() {
		return s.do(
			ctx, act{id: id, task: sub.Task(), cmd: company.PauseSubtask{Subtask: sub, Off: off}, what: arguments.ID + what,
				goesOn: off})
	}
	task := company.TaskID(arguments.ID)
	if !task.Valid() {
		_, err := view.FindTask(nil, arguments.ID)
		return nil, err
	}
	return s.do(
		ctx, act{id: id, task: task, cmd: company.Pause{Task: task, Off: off}, what: arguments.ID + what, goesOn: off})
}

func (s *Server) pauseWork(ctx context.Context, arguments restArguments) (*mcp.CallToolResult, error) {
	return s.setPause(ctx, nameCommand("pause", arguments.RequestID), arguments, false, " is paused")
}

func (s *Server) resumeWork(ctx context.Context, arguments restArguments) (*mcp.CallToolResult, error) {
	return s.setPause(ctx, nameCommand("resume", arguments.RequestID), arguments, true, " is no longer paused")
}

func (s *Server) stop(ctx context.Context, arguments stopArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(office *client.Office) error {
		at, err := office.Work(ctx)
		if err != nil {
			return err
		}
		what := "nothing has ever run here"
		if at.Epoch > 0 { // without an epoch no work ever started
			what = "the office is stopped; nothing begins until the president's company resume"
			if _, err := office.Do(ctx, nameCommand("stop", arguments.RequestID), company.Stop{Why: arguments.Why}); err != nil {
				return err
			}
		}
		r = newResult(what)
		r.StructuredContent = map[string]any{"stopped": at.Epoch > 0, "was_stopped": at.Stopped}
		return nil
	})
	return r, err
}

func (s *Server) cancelTask(ctx context.Context, arguments cancelArguments) (*mcp.CallToolResult, error) {
	task := company.TaskID(arguments.Task)
	if !task.Valid() {
		_, err := view.FindTask(nil, arguments.Task)
		return nil, err
	}
	return s.do(
		ctx, act{id: nameCommand("cancel", arguments.RequestID), task: task,
			cmd:  company.Cancel{Task: task, Why: arguments.Why},
			what: arguments.Task + " is cancelled"})
}
