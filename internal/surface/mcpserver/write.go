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
	Instruction  string   `json:"instruction" jsonschema:"what to do, in your words"`
	Project      string   `json:"project,omitempty" jsonschema:"project of the office by name, or the path of a git checkout (default: that of the server)"`
	Base         string   `json:"base,omitempty" jsonschema:"branch to start from"`
	Follows      string   `json:"follows,omitempty" jsonschema:"continue the open pull request of this task"`
	After        []string `json:"after,omitempty" jsonschema:"start when the pull requests of these tasks are merged"`
	Priority     string   `json:"priority,omitempty" jsonschema:"priority among the tasks of a project"`
	Deadline     string   `json:"deadline,omitempty" jsonschema:"when it should be done: 2026-12-01, 2026-12-01T17:00, or in 36h or 3d"`
	Tags         []string `json:"tags,omitempty" jsonschema:"tags of the task"`
	BudgetUSD    float64  `json:"budget_usd,omitempty" jsonschema:"cap of this task in USD"`
	BudgetTokens string   `json:"budget_tokens,omitempty" jsonschema:"cap of this task in tokens, such as 200k or 5M"`
	DryRun       bool     `json:"dry_run,omitempty" jsonschema:"stop after the plan"`

	Attach []attachedArgument `json:"attach,omitempty" jsonschema:"texts and images to attach to the instruction"`

	RequestID string `json:"request_id,omitempty" jsonschema:"your own id: a repeat with the same id and arguments is done only once"`
}

// attachedArgument is a file with its content. It has no path, because any client that may submit
// could then read all files of the user (docs/decisions/instructions.md).
type attachedArgument struct {
	Name   string  `json:"name" jsonschema:"file name, such as spec.md"`
	Text   *string `json:"text,omitempty" jsonschema:"content as text"`
	Base64 *string `json:"base64,omitempty" jsonschema:"PNG, JPEG, GIF or WebP image, or text, in base64"`
}

type answerArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, such as a7"`
	Text      string `json:"text" jsonschema:"the answer"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type tellArguments struct {
	Subtask   string `json:"subtask" jsonschema:"id of the subtask, such as t12-03"`
	Text      string `json:"text" jsonschema:"message for its worker"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type restArguments struct {
	ID        string `json:"id" jsonschema:"id of a task or of a subtask"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type stopArguments struct {
	Why       string `json:"why,omitempty" jsonschema:"reason"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type cancelArguments struct {
	Task      string `json:"task" jsonschema:"id of the task"`
	Why       string `json:"why,omitempty" jsonschema:"reason"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type approveArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, or of a task with one open question"`
	Option    string `json:"option,omitempty" jsonschema:"name of another option of the question (default: approve)"`
	Text      string `json:"text,omitempty" jsonschema:"text for the agent that asked"`
	Add       string `json:"add,omitempty" jsonschema:"for a budget question: amount to add, such as 5usd or 100ktokens"`
	EndTask   bool   `json:"end_task,omitempty" jsonschema:"required if the option ends the whole task"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
}

type rejectArguments struct {
	Question  string `json:"question" jsonschema:"id of the question, or of a task with one open question"`
	Text      string `json:"text,omitempty" jsonschema:"how to do it instead"`
	EndTask   bool   `json:"end_task,omitempty" jsonschema:"required if this no ends the whole task"`
	RequestID string `json:"request_id,omitempty" jsonschema:"your own id, which makes a repeat harmless"`
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
		"Submit an instruction for a git repository. It returns the task's id at once; the work continues in "+
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
	addTool(s, writes, "tell", "Send a message to the worker of a subtask.",
		bounds{"subtask": limitID, "text": words, "request_id": request}, s.tellWorker)
	addTool(s, writes, "pause", "Pause a task or a subtask. The work of its runs is kept.",
		bounds{"id": limitID, "request_id": request}, s.pauseWork)
	addTool(s, writes, "resume",
		"Resume a paused task or subtask, and start the company's work if it has not started.",
		bounds{"id": limitID, "request_id": request}, s.resumeWork)
	addTool(s, writes, "stop",
		"Stop all work in the office immediately: model calls and containers end, and nothing starts until the "+
			"president's company resume.", bounds{"why": limitText(0, 1000), "request_id": request}, s.stop)
	addTool(s, destroys, "cancel", "Cancel a task; its merged work stays on its branch.",
		bounds{"task": limitID, "why": limitText(0, 1000), "request_id": request}, s.cancelTask)
}

func (s toolset) addApprovingTools() {
	addTool(s, destroys, "approve",
		"Approve a question as the president: a plan, a merge, a pull request, a budget. Or choose another of its "+
			"options by name.",
		bounds{"question": limitID, "option": limitText(1, 64), "text": limitText(0, maxWords), "add": limitText(1, 40),
			"request_id": limitRequest}, s.approveQuestion)
	addTool(s, destroys, "reject",
		"Reject a question as the president. With a text, the work is redone accordingly where possible.",
		bounds{"question": limitID, "text": limitText(0, maxWords), "request_id": limitRequest}, s.rejectQuestion)
}

func (s *Server) submitTask(ctx context.Context, arguments submitArguments) (*mcp.CallToolResult, error) {
	if strings.TrimSpace(arguments.Instruction) == "" {
		return nil, company.E(company.EUsage, "the instruction is empty").Fix("say what to do")
	}
	files, err := readAttached(arguments.Attach)
	if err != nil {
		return nil, err
	}
	task, err := s.host.Submit(ctx, view.Submission{
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
		state = "starts when merged: " + strings.Join(arguments.After, ", ")
	}
	r := newResult(fmt.Sprintf("%s %s. Next: wait for it, or show %s.", task, state, task))
	r.StructuredContent = struct {
		Task company.TaskID `json:"task"`
	}{task}
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
			return nil, refused.Because("a file has its content either in text or in base64").Fix("give one of the two")
		case argument.Text != nil:
			content = []byte(*argument.Text)
		default:
			var err error
			if content, err = base64.StdEncoding.DecodeString(*argument.Base64); err != nil {
				return nil, refused.Because("invalid base64").Wrap(err).
					Fix("use RFC 4648 with padding, or pass text in the field text")
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
	AtWork bool               `json:"at_work"` // the work continues by itself
}

// act is a client's command about a task, or about the office if task is empty.
type act struct {
	id   string // id of the command, empty for a fresh id
	task company.TaskID
	cmd  company.Command
	what string // the text of the answer
	// goesOn starts the company's work if the task can continue. Otherwise an agent would need a
	// terminal for that.
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
	over, goesOn := false, false
	err := s.withOffice(ctx, func(office *client.Office) (err error) {
		if a, err = find(ctx, office); err != nil {
			return err
		}
		if _, err := office.Do(ctx, a.id, a.cmd); err != nil {
			return err
		}
		if a.task == "" {
			out.AtWork = office.IsAtWork()
			return nil
		}
		work, err := office.Work(ctx, a.task)
		if err != nil {
			return err
		}
		progress := work.Tasks[0]
		out, over = outcome{Task: progress.ID, Status: progress.Status, AtWork: office.IsAtWork()}, progress.Over
		goesOn = a.goesOn && work.CanGoOn(progress.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text := a.what
	if goesOn && !out.AtWork {
		if out.AtWork, err = s.host.GoOn(ctx, a.task); err != nil {
			code, message, reason, _ := describeError(err)
			text += fmt.Sprintf("\nNo company could be started: error[%s]: %s %s", code, message, reason)
		}
	}
	if goesOn && out.AtWork {
		text += fmt.Sprintf("\nA company continues %s: wait for it.", a.task)
	}
	if a.task != "" && !over && !out.AtWork {
		text += fmt.Sprintf("\nNo company is running: the president continues with company resume %s", a.task)
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
				return company.E(company.EInvalid, fmt.Sprintf("%s needs a yes or a no", approval.ID)).
					Because("answer takes only words").
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
				return company.E(company.EUsage, "add needs a question about the budget").
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
			fmt.Sprintf("%s was not answered: this %s ends all of %s", approval.ID, option.Label(), all)).
			Fix("add a text to have it redone, or set end_task")
	}
	return err
}

func (s *Server) tellWorker(ctx context.Context, arguments tellArguments) (*mcp.CallToolResult, error) {
	sub := company.SubtaskID(arguments.Subtask)
	if !sub.Valid() {
		return nil, company.E(company.EUsage, fmt.Sprintf("invalid subtask id %q", arguments.Subtask)).
			Fix("subtask ids look like t12-03: show the task")
	}
	return s.do(
		ctx, act{id: nameCommand("tell", arguments.RequestID), task: sub.Task(),
			cmd:  company.Tell{Subtask: sub, Text: arguments.Text},
			what: arguments.Subtask + " will read it at its next turn"})
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
		what := "nothing has run here yet"
		if at.Epoch > 0 { // without an epoch no work ever started
			what = "the office is stopped; nothing starts until the president runs company resume"
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
