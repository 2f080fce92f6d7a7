package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/present/termtext"
)

// underway tracks current activities from the items of the feed: runs with their tool or model call, checks, and image
// builds.
type underway struct {
	steps map[string]*step // by run, or by kind and id
}

// step is a run, a check or an image build.
type step struct {
	task  company.TaskID
	id    string // of the subtask or the task
	who   string
	doing string
	since time.Time // start of this activity
}

// WaitsForModel is the activity of a run whose model does not answer, and is asked again.
const WaitsForModel = "waits for the model's server"

// observe processes the next item, whether or not it is shown.
func (u *underway) observe(item Item) {
	if item.endsImage() {
		u.endImages(item.Task)
	}
	run, gate := "run "+string(item.Run), "gate "+string(item.Task)+string(item.Subtask)
	switch item.Kind {
	case kindRunClaimed:
		u.begin(run, item, item.Text)
	case kindRunEnded, kindRunReleased:
		u.end(run)
	case "turn_started":
		u.begin(run, item, "thinks")
	case "waiting":
		if s := u.steps[run]; s == nil || s.doing != WaitsForModel { // else it continues to wait
			u.begin(run, item, WaitsForModel)
		}
	case "tool_started":
		u.begin(run, item, DoingText(item.Text))
	case kindGate:
		u.begin(gate, item, item.Text)
	case kindGateFinished, kindMergeGated, kindStackRed, kindStackIntended, kindBaseline:
		u.end(gate)
	case kindEffectFailed:
		u.end(gate)
	case kindImage:
		if item.Mark == Info && !strings.Contains(item.Text, " is ready") {
			u.begin("image "+string(item.Task), item, "image: "+item.Text)
		}
	case kindCompleted, kindFailed, kindCancelled:
		for key, s := range u.steps {
			if s.task == item.Task {
				u.end(key)
			}
		}
	}
}

// endsImage reports whether an item shows that the image of its task is no longer being built, because the next step
// has begun. Items of the manager do not count, because it plans at the same time.
func (it Item) endsImage() bool {
	manages := it.Run != "" && it.Subtask == ""
	return it.Kind != kindImage && it.Kind != kindBased && it.Kind != kindHeartbeat && !isStep(it.Kind) && !manages
}

// begin records the current activity of a step.
func (u *underway) begin(key string, item Item, doing string) {
	if u.steps == nil {
		u.steps = map[string]*step{}
	}
	s := u.steps[key]
	if s == nil {
		s = &step{}
		u.steps[key] = s
	}
	s.task = item.Task
	s.doing = doing
	s.since = item.Time
	if s.id = string(item.Subtask); s.id == "" {
		s.id = string(item.Task)
	}
	if item.Worker != "" {
		s.who = item.Worker
	}
}

func (u *underway) end(key string) { delete(u.steps, key) }

// endImages ends the image builds of a task. An image that several tasks wait for has no task.
func (u *underway) endImages(task company.TaskID) {
	u.end("image ")
	if task != "" {
		u.end("image " + string(task))
	}
}

// sorted returns the steps sorted by task, id and start.
func (u *underway) sorted() []*step {
	var steps []*step
	for _, s := range u.steps {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(len(a.task), len(b.task)), cmp.Compare(a.task, b.task), strings.Compare(a.id, b.id),
			a.since.Compare(b.since), strings.Compare(a.doing, b.doing))
	})
	return steps
}

// renderLines renders one line for each step. If there are more than limit, the last line counts the rest.
func (u *underway) renderLines(now time.Time, limit int) []string {
	var out []string
	for _, step := range u.sorted() {
		out = append(out, "  "+termtext.Pad(dashIfEmpty(step.id), 7)+" "+termtext.Pad(dashIfEmpty(step.who), 8)+" "+
			termtext.Pad(termtext.FormatAge(now.Sub(step.since)), 6)+" "+step.doing)
	}
	return boundLines(out, max(1, limit))
}

// renderText renders the same as one sentence.
func (u *underway) renderText(now time.Time) string {
	var out []string
	for _, s := range u.sorted() {
		out = append(out, strings.TrimSpace(s.id+" "+s.doing)+" ("+termtext.FormatAge(now.Sub(s.since))+")")
	}
	return strings.Join(boundLines(out, 4), "; ")
}

// toolVerbs describe the use of each tool.
var toolVerbs = map[string]string{
	"run_command": "runs", "read_file": "reads", "write_file": "writes", "edit_file": "edits", "search": "searches for",
	"list_files": "lists files",
	"git_commit": "commits", "git_status": "checks its changes", "check_process": "checks a process",
	"list_processes": "checks its processes",
	"finish":         "finishes", "submit_plan": "submits the plan", "submit_review": "submits the review",
	"submit_summary": "submits a summary",
}

// DoingText describes a tool call with a verb and its arguments.
func DoingText(call string) string {
	tool, args, _ := strings.Cut(call, " ")
	if verb, ok := toolVerbs[tool]; ok {
		return strings.TrimSpace(verb + " " + args)
	}
	return call
}
