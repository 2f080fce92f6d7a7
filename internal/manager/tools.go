package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/gitops"
	"company/internal/lib/charset"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// Limits of the manager's reading tools.
const (
	maxLines = 2000
	maxBytes = 50 << 10
	maxPaths = 500
	maxLine  = 500
)

// readTools reads the git objects of one commit. It makes no checkout and runs no code.
type readTools struct {
	mirror *gitops.Mirror
	at     company.OID
}

func (r *readTools) list() []agent.Tool {
	return []agent.Tool{r.readFile(), r.searchTool(), r.listFiles()}
}

func newTool[A any](
	name, description, schema string, readOnly bool, run func(context.Context, A) (agent.Result, error),
) agent.Tool {
	return agent.Tool{
		Spec:     adapters.Tool{Name: name, Description: description, Schema: json.RawMessage(schema)},
		ReadOnly: readOnly,
		Run: func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return refusalResult("the arguments cannot be read: " + err.Error()), nil
			}
			return run(ctx, args)
		},
	}
}

func refusalResult(text string) agent.Result { return agent.Result{Text: text, IsError: true} }

func (r *readTools) readFile() agent.Tool {
	type args struct {
		Path          string
		Offset, Limit int
	}
	return newTool("read_file", "Read lines of a file. Their numbers are not part of it.",
		`{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1,"maximum":2000}}}`,
		true, func(ctx context.Context, a args) (agent.Result, error) {
			text, err := r.mirror.ReadFile(ctx, r.at, a.Path)
			if company.CodeOf(err) == company.ENotFound {
				text, err = r.readSpelled(ctx, a.Path, err)
			}
			switch company.CodeOf(err) {
			case "":
			case company.ENotFound, company.EInvalid:
				return r.missingFile(ctx, a.Path)
			case company.EObjects:
				return refusalResult(a.Path + " is too large to be read"), nil
			default:
				return agent.Result{}, err
			}
			text = []byte(charset.DecodeUnicode(text))
			if isBinary(text) {
				return refusalResult(a.Path + " is a binary file"), nil
			}
			from, limit := max(1, a.Offset), a.Limit
			if limit == 0 {
				limit = maxLines
			}
			var b strings.Builder
			n := 0
			for line := range strings.Lines(string(text)) {
				if n++; n < from {
					continue
				}
				if n >= from+limit || b.Len() > maxBytes {
					fmt.Fprintf(&b, "(more; use offset=%d)\n", n)
					break
				}
				fmt.Fprintf(&b, "%d: %s\n", n, safetext.Cut(strings.TrimRight(line, "\r\n"), maxLine))
			}
			return agent.Result{Text: b.String()}, nil
		})
}

// readSpelled reads the file whose path differs from a missing one only in its spelling. It returns missing if there is
// no such file.
func (r *readTools) readSpelled(ctx context.Context, path string, missing error) ([]byte, error) {
	entries, err := r.mirror.List(ctx, r.at)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.Path
	}
	spelled, ok := toolproto.FindSpelling(path, paths)
	if !ok {
		return nil, missing
	}
	return r.mirror.ReadFile(ctx, r.at, spelled)
}

// missingFile returns a refusal for a path that the commit lacks. It points out a folder of that name, or
// similar paths.
func (r *readTools) missingFile(ctx context.Context, path string) (agent.Result, error) {
	entries, err := r.mirror.List(ctx, r.at)
	if err != nil {
		return agent.Result{}, err
	}
	folder := strings.TrimSuffix(path, "/") + "/"
	if slices.ContainsFunc(entries, func(e gitops.Entry) bool { return strings.HasPrefix(e.Path, folder) }) {
		return refusalResult(path + " is a folder; use list_files with the glob " + folder + "**"), nil
	}
	return refusalResult("there is no file " + path + toolproto.SuggestPaths(path, func(yield func(string) bool) {
		for _, e := range entries {
			if !yield(e.Path) {
				return
			}
		}
	})), nil
}

// matchingFiles lists the files of the commit that match a glob. The result is not nil if the glob is invalid.
func (r *readTools) matchingFiles(ctx context.Context, pattern string) ([]gitops.Entry, *agent.Result, error) {
	entries, err := r.mirror.List(ctx, r.at)
	if err != nil {
		return nil, nil, err
	}
	if pattern = strings.TrimPrefix(pattern, "./"); pattern == "" || pattern == "." {
		return entries, nil, nil
	}
	// The name of a folder matches its files.
	if folder := strings.TrimSuffix(pattern, "/") +
		"/"; slices.ContainsFunc(entries, func(e gitops.Entry) bool { return strings.HasPrefix(e.Path, folder) }) {
		return slices.DeleteFunc(entries, func(e gitops.Entry) bool { return !strings.HasPrefix(e.Path, folder) }), nil, nil
	}
	g, err := glob.Parse(pattern)
	if err != nil {
		res := refusalResult(err.Error())
		return nil, &res, nil
	}
	matching := entries[:0]
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if g.Match(entry.Path) {
			matching = append(matching, entry)
		}
	}
	return matching, nil, nil
}

func (r *readTools) listFiles() agent.Tool {
	type args struct{ Glob string }
	return newTool("list_files", "List files, or those of a glob (cmd/**).",
		`{"type":"object","additionalProperties":false,"properties":{"glob":{"type":"string"}}}`,
		true, func(ctx context.Context, a args) (agent.Result, error) {
			entries, bad, err := r.matchingFiles(ctx, a.Glob)
			if err != nil || bad != nil {
				return resultOrZero(bad), err
			}
			var b strings.Builder
			for i, entry := range entries {
				if i == maxPaths {
					fmt.Fprintf(&b, "(truncated: %d files in all)\n", len(entries))
					break
				}
				b.WriteString(entry.Path + "\n")
			}
			if len(entries) == 0 {
				b.WriteString("no files")
			}
			return agent.Result{Text: b.String()}, nil
		})
}

func resultOrZero(result *agent.Result) agent.Result {
	if result == nil {
		return agent.Result{}
	}
	return *result
}

// isBinary uses git's own rule: a NUL byte near the beginning.
func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 }

// contextFiles returns the context entries of a plan that are files of the commit.
func (r *readTools) contextFiles(ctx context.Context, plan company.Plan) ([]string, error) {
	entries, err := r.mirror.List(ctx, r.at)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Path] = true
	}
	files := []string{}
	for _, w := range plan.Waves {
		for _, s := range w.Subtasks {
			for _, entry := range s.Context {
				if f, ok := company.ParseContext(entry); ok && there[f.Path] {
					files = append(files, f.Path)
				}
			}
		}
	}
	return files, nil
}

// warnOfPaths lists paths of a plan that the commit lacks, if it has similar ones. It checks context files, and
// paths of write sets, which may be new files.
func (r *readTools) warnOfPaths(ctx context.Context, plan company.Plan) ([]company.PlanProblem, error) {
	entries, err := r.mirror.List(ctx, r.at)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Path] = true
	}
	written := map[string]bool{}
	var problems []company.PlanProblem
	look := func(at, path, fix string) {
		if there[path] || written[path] || len(problems) >= mostPathProblems {
			return
		}
		written[path] = true // report each path once
		if like := toolproto.SuggestPaths(path, func(yield func(string) bool) {
			for _, e := range entries {
				if !yield(e.Path) {
					return
				}
			}
		}); like != "" {
			problems = append(
				problems,
				company.PlanProblem{Where: at,
					What: "names " + safetext.EscapeLine(path, 200) + ", which does not exist" + like, Fix: fix})
		}
	}
	for _, w := range plan.Waves {
		for _, subtask := range w.Subtasks {
			at := "subtask " + safetext.EscapeLine(subtask.Title, 80)
			for _, path := range subtask.WriteSet {
				if !strings.ContainsAny(path, `*?[]{}\`) {
					look(at, path, "correct it in the write set; leave it where the file is to be new")
				}
			}
			for _, entry := range subtask.Context {
				if f, is := company.ParseContext(entry); is && !f.Noted {
					look(at, f.Path, "correct it in the context, or leave it out")
				}
			}
		}
	}
	return problems, nil
}

// mostPathProblems limits the missing paths of a plan that are reported.
const mostPathProblems = 10

// submitPlanTool returns the tool that ends planning. Code checks the plan. A refused plan is recorded and
// returned with the reasons. A valid plan with warnings is returned once.
func submitPlanTool(coordinator company.Coordinator, run company.RunID, fence uint64, look *readTools) agent.Tool {
	warned := false
	tool := newTool("submit_plan", "Submit the plan.",
		string(company.PlanSchema()), false, func(ctx context.Context, plan company.Plan) (agent.Result, error) {
			files, err := look.contextFiles(ctx, plan)
			if err != nil {
				return agent.Result{}, err
			}
			evs, err := coordinator.Decide(ctx, company.ProposePlan{Run: run, Fence: fence, Plan: plan, Files: files})
			if err != nil {
				return agent.Result{}, err
			}
			refused := company.EventsOf[company.PlanRefused](evs)
			warnings, err := look.warnOfPaths(ctx, plan)
			if err != nil {
				return agent.Result{}, err
			}
			if warnings = append(warnings, plan.Warnings()...); len(refused) == 0 &&
				len(warnings) > 0 && !warned {
				warned = true
				return refusalResult("The plan would stand, but look at this once more:\n" + listProblems(warnings) +
					"Submit it again, changed or as it is."), nil
			}
			if len(refused) == 0 {
				return agent.Result{Text: "accepted", Final: decision{Plan: &plan}}, nil
			}
			text := "The plan is refused:\n" + listProblems(refused[0].Problems)
			if len(company.EventsOf[company.TaskFailed](evs)) > 0 {
				return agent.Result{Text: text + "It was the last one; the task has failed.", IsError: true,
					Final: decision{Over: true}}, nil
			}
			return refusalResult(text + "Mend it and submit it again."), nil
		})
	tool.Unsent = []string{"waves"} // an older form, which is still accepted
	return tool
}

func listProblems(problems []company.PlanProblem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "- %s\n", p)
	}
	return b.String()
}

// decideTools returns the tools that end a decision on a stuck ticket.
func decideTools(task *company.Task, sub *company.Subtask) []agent.Tool {
	tools := []agent.Tool{guideTool(sub.ID), replanTool(task, sub), giveUpTool(sub.ID)}
	if len(task.Settings.EscalateTo) > 0 {
		tools = append(tools, changeModelTool(task, sub))
	}
	return tools
}

func guideTool(id company.SubtaskID) agent.Tool {
	type args struct {
		Advice    string
		MoreTurns int `json:"more_turns"`
		Decisions []string
	}
	return newTool("guide_worker",
		"Send the ticket back to a worker with your advice: what to do differently. more_turns is for a ticket that is "+
			"right, and whose worker ran out of turns.",
		`{"type":"object","additionalProperties":false,"required":["advice"],"properties":{"advice":{"type":"string","minLength":1,"maxLength":8000},"more_turns":{"type":"integer","minimum":1,"maximum":`+strconv.Itoa(company.MaxMoreTurns)+`,"description":"replies that each of its next runs has beyond the usual; they cost money of the task"},"decisions":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":1000},"description":"what the instruction leaves open and this advice decides in the president's place, one sentence each"}}}`,
		false, func(_ context.Context, a args) (agent.Result, error) {
			if strings.TrimSpace(a.Advice) == "" {
				return refusalResult("say in advice what the worker is to do differently"), nil
			}
			if a.MoreTurns < 0 || a.MoreTurns > company.MaxMoreTurns {
				return refusalResult(
					fmt.Sprintf("%d more turns cannot be given; give 1 to %d, or leave more_turns out", a.MoreTurns,
						company.MaxMoreTurns)), nil
			}
			return agent.Result{Text: "sent",
				Final: decision{Guide: &company.Guide{Subtask: id, Text: a.Advice, MoreTurns: a.MoreTurns,
					Decisions: a.Decisions}}}, nil
		})
}

// changeModelTool returns the tool that gives a ticket another model. It ends the decision.
func changeModelTool(task *company.Task, sub *company.Subtask) agent.Tool {
	type args struct {
		Model, Advice string
		Decisions     []string
	}
	return newTool("change_model",
		"Send the ticket back to a worker with another model, and with your advice. Use it where the advice is right and "+
			"the worker is not able to follow it. The models: "+strings.Join(task.Settings.EscalateTo, ", ")+".",
		`{"type":"object","additionalProperties":false,"required":["model","advice"],"properties":{"model":{"type":"string","minLength":1,"maxLength":200},"advice":{"type":"string","minLength":1,"maxLength":8000},"decisions":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":1000},"description":"what the instruction leaves open and this advice decides in the president's place, one sentence each"}}}`,
		false, func(_ context.Context, a args) (agent.Result, error) {
			if strings.TrimSpace(a.Advice) == "" {
				return refusalResult("say in advice what the worker is to do"), nil
			}
			if err := task.CheckModel(sub, a.Model); err != nil {
				return refusalResult(err.Error() + "; " + err.Hint), nil
			}
			return agent.Result{Text: "sent",
					Final: decision{Guide: &company.Guide{Subtask: sub.ID, Text: a.Advice, Model: a.Model, Decisions: a.Decisions}}},
				nil
		})
}

// replanTool returns the tool that replans or splits a ticket. Code checks the parts, and returns refused ones
// with the reasons.
func replanTool(task *company.Task, sub *company.Subtask) agent.Tool {
	type args struct {
		Reason    string
		Subtasks  []company.PlannedSubtask
		Decisions []string
	}
	return newTool("replan_ticket",
		"Plan the ticket again: one subtask in its place where the ticket itself is wrong or needs another one first (name "+
			"that one's id in after), several where it is too large. They begin without its work. What comes after the ticket "+
			"comes after all of them.",
		string(company.ReplanSchema()), false, func(_ context.Context, a args) (agent.Result, error) {
			if strings.TrimSpace(a.Reason) == "" {
				return refusalResult("say in reason why the ticket is replanned"), nil
			}
			if _, problems := task.Replan(sub.ID, a.Subtasks, a.Reason); len(problems) > 0 {
				return refusalResult("The plan is refused:\n" + listProblems(problems) + "Mend it and submit it again."), nil
			}
			return agent.Result{Text: "accepted",
					Final: decision{Guide: &company.Guide{Subtask: sub.ID, Text: a.Reason, Parts: a.Subtasks,
						Decisions: a.Decisions}}},
				nil
		})
}

func giveUpTool(id company.SubtaskID) agent.Tool {
	type args struct{ Reason string }
	return newTool("give_up", "Give the ticket up; the president decides what becomes of it.",
		`{"type":"object","additionalProperties":false,"required":["reason"],"properties":{"reason":{"type":"string","minLength":1,"maxLength":4000}}}`,
		false, func(_ context.Context, a args) (agent.Result, error) {
			if strings.TrimSpace(a.Reason) == "" {
				return refusalResult("say in reason why the ticket is given up"), nil
			}
			return agent.Result{Text: "noted",
				Final: decision{Guide: &company.Guide{Subtask: id, Text: a.Reason, GiveUp: true}}}, nil
		})
}
