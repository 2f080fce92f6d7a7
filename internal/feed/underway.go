package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/screen"
)

// underway is what goes on at a moment, as the items of the feed tell it: runs with
// the tool or the thought that they are at, checks, and images that are made.
type underway struct {
	steps map[string]*step // by run, or by kind and id
}

// step is one run, check or image.
type step struct {
	task  company.TaskID
	id    string // of the subtask or the task
	who   string
	doing string
	since time.Time // that it does this
}

// observe takes the next item, of those that are not shown too.
func (u *underway) observe(it Item) {
	if it.endsImage() {
		u.endImages(it.Task)
	}
	run, gate, prepare := "run "+string(it.Run), "gate "+string(it.Task)+string(it.Subtask), "prepare "+string(it.Task)
	switch it.Kind {
	case kindSubmitted:
		u.begin(prepare, it, "looks for its base and its gates")
	case kindBased, kindPrepared:
		u.end(prepare)
	case kindRunClaimed:
		u.begin(run, it, it.Text)
	case kindRunEnded, kindRunReleased:
		u.end(run)
	case "turn_started":
		u.begin(run, it, "thinks")
	case "waiting":
		u.begin(run, it, "waits for the model's server")
	case "tool_started":
		u.begin(run, it, DoingText(it.Text))
	case kindGate:
		u.begin(gate, it, it.Text)
	case kindGateFinished, kindMergeGated, kindStackRed, kindStackIntended, kindBaseline:
		u.end(gate)
	case kindEffectFailed:
		u.end(prepare)
		u.end(gate)
	case kindImage:
		if it.Mark == Info && !strings.Contains(it.Text, " is ready") {
			u.begin("image "+string(it.Task), it, "image: "+it.Text)
		}
	case kindCompleted, kindFailed, kindCancelled:
		for key, s := range u.steps {
			if s.task == it.Task {
				u.end(key)
			}
		}
	}
}

// endsImage says whether an item shows that no image of its task is being made: the next
// step has begun. The manager plans beside it, which shows nothing.
func (it Item) endsImage() bool {
	manages := it.Run != "" && it.Subtask == ""
	return it.Kind != kindImage && it.Kind != kindBased && it.Kind != kindHeartbeat && !isStep(it.Kind) && !manages
}

// begin notes what a step is at.
func (u *underway) begin(key string, it Item, doing string) {
	if u.steps == nil {
		u.steps = map[string]*step{}
	}
	s := u.steps[key]
	if s == nil {
		s = &step{}
		u.steps[key] = s
	}
	s.task, s.doing, s.since = it.Task, doing, it.Time
	if s.id = string(it.Subtask); s.id == "" {
		s.id = string(it.Task)
	}
	if it.Worker != "" {
		s.who = it.Worker
	}
}

func (u *underway) end(key string) { delete(u.steps, key) }

// endImages ends the making of images: the next step of their task has begun. An
// image that several tasks wait for belongs to none.
func (u *underway) endImages(task company.TaskID) {
	u.end("image ")
	if task != "" {
		u.end("image " + string(task))
	}
}

// sorted are the steps as they stand in a list: by id, as they began.
func (u *underway) sorted() []*step {
	var all []*step
	for _, s := range u.steps {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *step) int {
		return cmp.Or(cmp.Compare(len(a.task), len(b.task)), cmp.Compare(a.task, b.task), strings.Compare(a.id, b.id), a.since.Compare(b.since), strings.Compare(a.doing, b.doing))
	})
	return all
}

// renderLines gives the steps, a line each; of more than most the last line counts the rest.
func (u *underway) renderLines(now time.Time, most int) []string {
	var out []string
	for _, s := range u.sorted() {
		out = append(out, "  "+screen.Pad(dashIfEmpty(s.id), 7)+" "+screen.Pad(dashIfEmpty(s.who), 8)+" "+screen.Pad(screen.FormatAge(now.Sub(s.since)), 6)+" "+s.doing)
	}
	return boundLines(out, max(1, most))
}

// renderText is the same in a sentence.
func (u *underway) renderText(now time.Time) string {
	var out []string
	for _, s := range u.sorted() {
		out = append(out, strings.TrimSpace(s.id+" "+s.doing)+" ("+screen.FormatAge(now.Sub(s.since))+")")
	}
	return strings.Join(boundLines(out, 4), "; ")
}

// toolVerbs are what agents do with their tools, as people say it.
var toolVerbs = map[string]string{
	"run_command": "runs", "read_file": "reads", "write_file": "writes", "edit_file": "edits", "search": "searches for", "list_files": "lists files",
	"git_commit": "commits", "git_status": "looks at its changes", "check_process": "looks at a process", "list_processes": "looks at its processes",
	"finish": "finishes", "submit_plan": "hands in the plan", "submit_review": "hands in the review",
}

// DoingText says what an agent does with a tool: a verb, and what it is done to.
func DoingText(call string) string {
	tool, args, _ := strings.Cut(call, " ")
	if verb, ok := toolVerbs[tool]; ok {
		return strings.TrimSpace(verb + " " + args)
	}
	return call
}
