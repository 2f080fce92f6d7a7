package company

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TaskID is the id of one instruction: t12.
type TaskID string

// SubtaskID is the id of one ticket of a task's plan: t12-03. The empty SubtaskID means the task as a whole.
type SubtaskID string

// RunID is the id of one attempt of an agent: t12-03.2 (worker), t12-plan.1 (manager), t12-03-review.1 (reviewer),
// t12-03-merge.1 (merger), t12-review.1 (the review of the whole task).
type RunID string

// ApprovalID is the id of one question to the president: a7.
type ApprovalID string

// OID is a git object id in full lower-case hexadecimal.
type OID string

// Hash is a SHA-256 in lower-case hexadecimal: the name of a blob.
type Hash string

// Role is the job of an agent (SUB-5).
type Role string

const (
	Manager  Role = "manager"
	Worker   Role = "worker"
	Reviewer Role = "reviewer"
	Merger   Role = "merger"
)

var (
	taskRE    = regexp.MustCompile(`^t[1-9][0-9]{0,8}$`)
	subtaskRE = regexp.MustCompile(`^t[1-9][0-9]{0,8}-[0-9]{2,3}$`)
	runRE     = regexp.MustCompile(`^(t[1-9][0-9]{0,8})(-[0-9]{2,3})?(?:-([a-z]+))?\.([1-9][0-9]{0,5})$`)
)

// runForms lists the forms of run ids, one row for each role. All code that builds, parses or checks run ids uses this
// table.
var runForms = []runForm{
	{role: Worker, ofSubtask: true},
	{role: Manager, word: "plan", ofTask: true},
	{role: Reviewer, word: "review", ofTask: true, ofSubtask: true},
	{role: Merger, word: "merge", ofSubtask: true},
}

// runForm tells how the runs of a role are named.
type runForm struct {
	role      Role
	word      string // at most 12 small letters; empty for workers
	ofTask    bool   // runs of the task as a whole exist
	ofSubtask bool   // runs of a subtask exist
}

// Valid reports whether the id is well formed.
func (id TaskID) Valid() bool { return taskRE.MatchString(string(id)) }

// LogID returns the id of the task's log: task-012 for t12. Each task has one log (LOG-4).
func (id TaskID) LogID() string { return fmt.Sprintf("task-%03d", id.Number()) }

// LogFile returns the path of the task's log below the runtime folder.
func (id TaskID) LogFile() string { return "logs/" + id.LogID() + ".json" }

// ReportFiles returns the pattern of the paths of the task's report below the runtime folder.
func (id TaskID) ReportFiles() string { return "reports/" + string(id) + ".report.*" }

// TaskOfLog returns the id of the task whose log is named, and any other id unchanged.
func TaskOfLog(id string) string {
	if number, isLog := strings.CutPrefix(id, "task-"); isLog {
		if n, err := strconv.Atoi(number); err == nil && NewTaskID(n).Valid() && NewTaskID(n).LogID() == id {
			return string(NewTaskID(n))
		}
	}
	return id
}

// Valid reports whether the id is well formed.
func (id SubtaskID) Valid() bool { return subtaskRE.MatchString(string(id)) }

// Valid reports whether the id is well formed.
func (id RunID) Valid() bool {
	_, _, _, _, err := id.Split()
	return err == nil
}

// Valid reports whether the id is a full object id (SHA-1 or SHA-256).
func (o OID) Valid() bool {
	return (len(o) == 40 || len(o) == 64) && strings.Trim(string(o), "0123456789abcdef") == ""
}

// Valid reports whether the hash is well formed.
func (h Hash) Valid() bool {
	return len(h) == 64 && strings.Trim(string(h), "0123456789abcdef") == ""
}

// Short returns the first 7 digits of an object id, for people.
func (o OID) Short() string {
	if len(o) < 7 {
		return string(o)
	}
	return string(o[:7])
}

// NewTaskID returns the id of the n-th task of an office, n from 1.
func NewTaskID(n int) TaskID { return TaskID("t" + strconv.Itoa(n)) }

// NewSubtaskID returns the id of the n-th subtask of a task, n from 1.
func NewSubtaskID(t TaskID, n int) SubtaskID { return SubtaskID(fmt.Sprintf("%s-%02d", t, n)) }

// Task returns the task that a subtask belongs to.
func (id SubtaskID) Task() TaskID {
	t, _, _ := strings.Cut(string(id), "-")
	return TaskID(t)
}

// Roles returns the roles that have runs.
func Roles() []Role {
	out := make([]Role, len(runForms))
	for i, f := range runForms {
		out[i] = f.role
	}
	return out
}

// NewRunID returns the id of the n-th attempt of a role at a subtask, or at a task if sub is empty. For an unknown role
// it returns an invalid id.
func NewRunID(t TaskID, sub SubtaskID, role Role, n int) RunID {
	head := string(t)
	if sub != "" {
		head = string(sub)
	}
	i := slices.IndexFunc(runForms, func(f runForm) bool { return f.role == role })
	switch {
	case i < 0:
		head += "-?"
	case runForms[i].word != "":
		head += "-" + runForms[i].word
	}
	return RunID(head + "." + strconv.Itoa(n))
}

// Split parses a run id. A malformed id, or an unknown role, is an EInvalid error.
func (id RunID) Split() (taskID TaskID, sub SubtaskID, role Role, n int, err error) {
	invalid := E(EInvalid, fmt.Sprintf("%q is not a run id", string(id))).Fix("run ids look like t12-03.2")
	m := runRE.FindStringSubmatch(string(id))
	if m == nil {
		return "", "", "", 0, invalid
	}
	i := slices.IndexFunc(runForms, func(f runForm) bool { return f.word == m[3] })
	if i < 0 {
		return "", "", "", 0, invalid.Because("no role has runs named " + m[3])
	}
	form := runForms[i]
	if m[2] == "" && !form.ofTask || m[2] != "" && !form.ofSubtask {
		return "", "", "", 0, invalid
	}
	taskID = TaskID(m[1])
	if m[2] != "" {
		sub = SubtaskID(m[1] + m[2])
	}
	n, err = strconv.Atoi(m[4])
	return taskID, sub, form.role, n, err
}

// Task returns the task that a run belongs to, or "" for a malformed id.
func (id RunID) Task() TaskID {
	t, _, _, _, _ := id.Split()
	return t
}

// Phase returns the phase of its task in which a run works: one of Phases, or "" for an invalid id.
func (id RunID) Phase() string {
	_, _, role, _, err := id.Split()
	if err != nil {
		return ""
	}
	return map[Role]string{Manager: "plan", Worker: "execute", Reviewer: "review", Merger: "merge"}[role]
}

// FilePath returns the name of a file of the run as the ledger uses it.
func (id RunID) FilePath(name string) string { return "runs/" + string(id) + "/" + name }
